"""Recipes of the documentation that send an answer elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT


class _Chat(ThreadingHTTPServer):
    """A chat program that takes messages as JSON."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.messages: list[dict[str, Any]] = []
        self.status = 200


class _Handler(BaseHTTPRequestHandler):
    server: _Chat

    def do_POST(self) -> None:
        assert self.headers["Content-Type"] == "application/json"
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.messages.append(json.loads(content))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@pytest.fixture
def chat() -> Iterator[_Chat]:
    with _Chat() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_the_documented_command_sends_a_new_report_to_a_chat(chat: _Chat, tmp_path: Path) -> None:
    [line] = [
        line
        for line in (ROOT / "docs/recipes.md").read_text().splitlines()
        if "curl" in line and line.startswith("cmp ")
    ]
    variables = os.environ | {"WEBHOOK": f"http://127.0.0.1:{chat.server_port}/hook"}

    def send() -> int:
        command = ["bash", "-c", line]
        return subprocess.run(command, check=False, cwd=tmp_path, env=variables).returncode

    report = 'a "case": worse, +5 %\n  Since: <b> & ü\n'
    (tmp_path / "report.txt").write_text(report)
    (tmp_path / "last.txt").write_text(report)
    assert send() == 0
    assert chat.messages == [], "nothing is new"
    (tmp_path / "last.txt").unlink()
    assert send() == 0
    assert chat.messages == [{"text": report}]
    chat.status = 500
    assert send() != 0
