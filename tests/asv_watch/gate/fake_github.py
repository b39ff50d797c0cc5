"""The part of GitHub's interface that the gate uses, as a server on this machine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.servers import Quiet, served

TOKEN = "token-of-the-workflow"  # noqa: S105 - nothing accepts it but this server
BOT = "github-actions[bot]"


class FakeGitHub:
    """One repository ``owner/project`` with pull request 7."""

    def __init__(self) -> None:
        self.head = ""
        self.description = ""
        self.labels: list[str] = []
        self.merged_as = ""
        self.same_head: list[int] = []
        """Other pull requests that have the head of this one."""
        self.comments: list[dict[str, Any]] = []
        self.statuses: list[tuple[str, dict[str, Any]]] = []
        self.address = ""

    def answer(self, method: str, path: str, content: Any) -> Any:  # noqa: PLR0911 - a table
        """What GitHub answers; ``None`` is "not found"."""
        path, _, query = path.partition("?")
        path = path.removeprefix("/repos/owner/project/")
        match method, path.split("/"):
            case "GET", ["pulls", "7"]:
                labels = [{"name": label} for label in self.labels]
                head = {"sha": self.head}
                body = self.description or None
                pull = {"number": 7, "head": head, "body": body, "labels": labels}
                merged = {
                    "merged": bool(self.merged_as),
                    "merge_commit_sha": self.merged_as or None,
                }
                return pull | merged
            case "GET", ["commits", commit, "pulls"]:
                numbers = [7, *self.same_head] if commit == self.head else []
                return [
                    {"number": number, "head": {"sha": self.head}, "state": "open", "labels": []}
                    for number in numbers
                ]
            case "GET", ["issues", "7", "comments"]:
                settings = dict(re.findall(r"(\w+)=(\d+)", query))
                size, page = int(settings["per_page"]), int(settings["page"])
                return self.comments[size * (page - 1) : size * page]
            case "POST", ["issues", "7", "comments"]:
                self.add_comment(BOT, content["body"])
                return self.comments[-1]
            case "PATCH", ["issues", "comments", number]:
                self.comments[int(number)]["body"] = content["body"]
                return self.comments[int(number)]
            case "POST", ["statuses", commit]:
                self.statuses.append((commit, content))
                return content
        return None

    def add_comment(self, author: str, text: str) -> None:
        """Let somebody comment."""
        comment = {"id": len(self.comments), "user": {"login": author}, "body": text}
        self.comments.append(comment)

    @property
    def state(self) -> str:
        """The newest status."""
        return str(self.statuses[-1][1]["state"])


@contextmanager
def serve() -> Iterator[FakeGitHub]:
    """Serve a repository on this machine."""
    github = FakeGitHub()

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            content = json.loads(self.rfile.read(length)) if length else None
            known = self.headers["Authorization"] == f"Bearer {TOKEN}"
            answer = github.answer(self.command, self.path, content) if known else None
            self.send_response(404 if answer is None else 200)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        do_POST = do_PATCH = do_GET  # noqa: N815

    with served(Handler) as address:
        github.address = f"http://{address}"
        yield github
