"""Writes what the gate measured to a pull request, in a job that runs none of its code.

What may be believed is in docs/pull-requests.md.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import urllib.request
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
import typer

from asv_watch.errors import WatchError
from asv_watch.gate.comment import Stored, comment, is_ours, read_stored, sentence
from asv_watch.gate.result import parse_share, read_result
from asv_watch.options import Threshold, Undecided

_CONTEXT = "torchspeed/gate"
"""Name of the status."""
_AUTHOR = "github-actions[bot]"
"""Account of the token of a workflow."""
_TIMEOUT_S = 60
_A_PAGE = 100
_MOST_PAGES = 30
_LARGEST_ANSWER = 50_000_000
"""Bytes; a hundred comments of 65,536 characters have fewer."""

_NO_ANSWER = (msgspec.MsgspecError, ValueError, RecursionError)
"""Exceptions that reading an answer raises if it is not what GitHub documents."""

T = TypeVar("T")


def gate_comment(
    result_file: Annotated[
        str,
        typer.Argument(
            metavar="[FILE]",
            help="File that gate --json wrote; by default the result in the existing comment.",
        ),
    ] = "",
    *,
    head: Annotated[
        str,
        typer.Option(metavar="HASH", help="The head commit, as the workflow's event says."),
    ] = "",
    pull_request: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", min=0, help="Number of the pull request, if FILE is not given."
        ),
    ] = 0,
    label: Annotated[
        str, typer.Option(metavar="LABEL", help="The label that accepts slower cases.")
    ] = "slower-accepted",
    labelled: Annotated[
        str, typer.Option(metavar="LABEL", help="The label that was just set, if one was.")
    ] = "",
    threshold: Threshold = "3%",
    undecided: Undecided = "fail",
) -> None:
    """Write the comment of a pull request, or update it, and set the status of its head.

    The file is not trusted: the pull request that it names has to be at the commit that GitHub
    says was measured. A label accepts the slowdown of the commit that was the head when it was
    set, if that was measured by then, and no other. It takes a line ``LABEL: reason`` in the
    description. Without a file, such as after a label was set, the result in the comment that is
    there counts; the head is then the commit that the label was set for.

    Raises:
        WatchError: the file is no result, it is of another commit, or GitHub refuses a call.
    """
    share, github = parse_share(threshold), GitHub()
    result = read_result(Path(result_file)) if result_file else None
    if result is not None:
        if not result.pull_request:
            raise WatchError(f"{result_file} names no pull request; use gate --pull-request")
        if result.head != head:
            raise WatchError(
                f"{result_file} is of commit {result.head}, but {head or 'no commit'} was "
                "measured; nothing was written"
            )
    pull = github.pull_request(result.pull_request if result else pull_request)
    ours = [old for old in github.own_comments(pull.number) if is_ours(old[1])]
    stored = _read_last(ours)
    if result is None and stored is not None:
        result = stored.result
    if result is None or result.head != pull.head.sha:
        print(f"pull request {pull.number} is at {pull.head.sha}, which was not measured")
        return
    accepted = ""
    has_label = label in {known.name for known in pull.labels}
    if has_label and stored is not None and stored.result.head == result.head:
        is_set_now = labelled == label and head == result.head
        accepted = reason_in(pull.body or "", label) if is_set_now else stored.accepted
    remedy = ""
    if result.failing(share) and has_label and not accepted:
        remedy = (
            f"The label `{label}` does not accept this commit yet. It needs a line "
            f"`{label}: reason` in the description; then remove the label and set it again."
        )
    text = comment(result, share, accepted, remedy)
    if result.cases or result.is_undecided(share) or ours:
        github.write_comment(pull.number, text, ours[-1][0] if ours else None)
    others = github.open_pull_requests(result.head) - {pull.number}
    description = sentence(result, share)
    if others:
        numbers = ", ".join(f"#{number}" for number in sorted({pull.number, *others}))
        description = f"{numbers} have one head commit, and so one status: close all but one"
    is_decided = undecided == "pass" or not result.is_undecided(share)
    passes = result.passes(share, accepted) and is_decided and not others
    github.set_status(result.head, passes=passes, description=description)
    print(f"pull request {pull.number}: {description}")


def reason_in(description: str, label: str) -> str:
    """Find the reason in a line ``LABEL: reason``; empty if there is none."""
    for line in description.splitlines():
        name, _, reason = line.partition(":")
        if name.strip().casefold() == label.casefold() and reason.strip():
            return reason.strip()
    return ""


def _read_last(comments: list[tuple[int, str]]) -> Stored | None:
    """Read what the last of our comments holds; one that is damaged holds nothing."""
    try:
        return read_stored(comments[-1][1]) if comments else None
    except WatchError:
        return None


class _Sha(msgspec.Struct):
    sha: str


class _Label(msgspec.Struct):
    name: str


class PullRequest(msgspec.Struct):
    """What the gate needs of a pull request, as GitHub answers it."""

    number: int
    head: _Sha
    """Its newest commit."""
    body: str | None = None
    labels: list[_Label] = []
    state: str = "open"


class _User(msgspec.Struct):
    login: str


class _Comment(msgspec.Struct):
    id: int
    body: str | None = None
    user: _User | None = None


class GitHub:
    """One repository, by the token of a workflow."""

    def __init__(self) -> None:
        """Take the repository whose workflow runs this.

        Raises:
            WatchError: no workflow does, or one of its variables cannot be meant.
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
        """Read the comments of workflows on a pull request: their identities and texts.

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
        """Write a comment on a pull request, or the new text of one that is there."""
        if identity is None:
            self._ask("POST", f"issues/{number}/comments", object, {"body": text})
        else:
            self._ask("PATCH", f"issues/comments/{identity}", object, {"body": text})

    def set_status(self, commit: str, *, passes: bool, description: str) -> None:
        """Set the status of a commit."""
        state = {"state": "success" if passes else "failure", "context": _CONTEXT}
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
        # Not sent on to where GitHub may redirect.
        request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310
                return msgspec.json.decode(answer.read(_LARGEST_ANSWER), type=kind)
        except (OSError, http.client.HTTPException, *_NO_ANSWER) as error:
            raise WatchError(
                f"GitHub did not do {method} {path} ({error}); check the workflow's "
                "`permissions`, and run the job again"
            ) from error
