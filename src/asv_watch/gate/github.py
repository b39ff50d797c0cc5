"""The few calls of GitHub's API that the gate needs."""

from __future__ import annotations

import http.client
import json
import os
import re
import urllib.request
from typing import TypeVar

import msgspec

from asv_watch.errors import WatchError

_AUTHOR = "github-actions[bot]"
"""Account in whose name a workflow's token writes."""
_TIMEOUT_S = 60
_A_PAGE = 100
_MOST_PAGES = 30
_LARGEST_ANSWER = 50_000_000
"""Most bytes of an answer; a hundred comments of 65,536 characters have fewer."""

_NO_ANSWER = (msgspec.MsgspecError, ValueError, RecursionError)
"""Exceptions that reading an answer raises if it is not what GitHub documents."""

T = TypeVar("T")


class _Sha(msgspec.Struct):
    sha: str


class _Label(msgspec.Struct):
    name: str


class PullRequest(msgspec.Struct):
    """The fields of a pull request that the gate needs, as GitHub returns them."""

    number: int
    head: _Sha
    """Its newest commit."""
    body: str | None = None
    labels: list[_Label] = []
    state: str = "open"
    merged: bool = False
    merge_commit_sha: str | None = None
    """The commit that it became on the branch, once it is merged."""


class _User(msgspec.Struct):
    login: str


class _Comment(msgspec.Struct):
    id: int
    body: str | None = None
    user: _User | None = None


class GitHub:
    """A repository, accessed with the token of a workflow."""

    def __init__(self) -> None:
        """Read the repository and the token of the workflow that runs this.

        Raises:
            WatchError: no workflow runs this, or one of its variables is not valid.
        """
        names = ("GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_TOKEN")
        api, repository, token = (os.environ.get(name, "") for name in names)
        if not api.startswith(("https://", "http://127.0.0.1:")):
            raise WatchError(f"GITHUB_API_URL {api!r} is not an https address")
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
            raise WatchError(f"GITHUB_REPOSITORY {repository!r} is not owner/name")
        if not token:
            raise WatchError("GITHUB_TOKEN is not set; give the step the workflow's token")
        self._address = f"{api}/repos/{repository}"
        self._repository = repository
        self._token = token

    def pull_request(self, number: int) -> PullRequest:
        """Read a pull request to this repository.

        Raises:
            WatchError: there is none of that number, or GitHub does not answer.
        """
        return self._ask("GET", f"pulls/{number}", PullRequest)

    def open_pull_requests(self, head: str) -> set[int]:
        """Return the numbers of the open pull requests that have this head commit.

        Raises:
            WatchError: GitHub does not answer.
        """
        pulls = self._ask("GET", f"commits/{head}/pulls?per_page={_A_PAGE}", list[PullRequest])
        return {pull.number for pull in pulls if pull.state == "open" and pull.head.sha == head}

    def own_comments(self, number: int) -> list[tuple[int, str]]:
        """Read the identity and text of each comment that workflows wrote on a pull request.

        Raises:
            WatchError: GitHub does not answer.
        """
        comments: list[tuple[int, str]] = []
        for page in range(1, _MOST_PAGES + 1):
            path = f"issues/{number}/comments?per_page={_A_PAGE}&page={page}"
            answer = self._ask("GET", path, list[_Comment])
            comments += [
                (comment.id, comment.body or "")
                for comment in answer
                if comment.user is not None and comment.user.login == _AUTHOR
            ]
            if len(answer) < _A_PAGE:
                break
        return comments

    def write_comment(self, number: int, text: str, identity: int | None) -> None:
        """Write a comment on a pull request, or replace the text of an existing one."""
        if identity is None:
            self._ask("POST", f"issues/{number}/comments", object, {"body": text})
        else:
            self._ask("PATCH", f"issues/comments/{identity}", object, {"body": text})

    def set_status(self, commit: str, context: str, *, passes: bool, description: str) -> None:
        """Set the status of a commit."""
        state = {"state": "success" if passes else "failure", "context": context}
        state["description"] = description[:140]
        run, server = os.environ.get("GITHUB_RUN_ID"), os.environ.get("GITHUB_SERVER_URL")
        if run and server:
            state["target_url"] = f"{server}/{self._repository}/actions/runs/{run}"
        self._ask("POST", f"statuses/{commit}", object, state)

    def _ask(self, method: str, path: str, kind: type[T], content: object = None) -> T:
        """Send a request; return GitHub's answer.

        Raises:
            WatchError: GitHub refuses it, does not answer, or answers something else.
        """
        request = urllib.request.Request(  # noqa: S310 - __init__ allows https alone
            f"{self._address}/{path}",
            method=method,
            data=None if content is None else json.dumps(content).encode(),
            headers={
                "Accept": "application/vnd.github+json",
                "Content-Type": "application/json",
                "User-Agent": "asv-watch",
            },
        )
        # The token is not sent on if GitHub redirects the request.
        request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310
                return msgspec.json.decode(answer.read(_LARGEST_ANSWER), type=kind)
        except (OSError, http.client.HTTPException, *_NO_ANSWER) as error:
            raise WatchError(
                f"GitHub did not do {method} {path} ({error}); check the workflow's "
                "`permissions`, and run the job again"
            ) from error
