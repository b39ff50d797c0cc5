"""docs/answers.md: its script sends a new report once, by mail, issue and webhook."""

import json
import os
import shutil
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import ClassVar

import pytest

from tests.conftest import ROOT, run, write_program
from tests.servers import Quiet, served

REPORT = "lstnet · cpu · forward: worse, +1.5 % (+0.3 to +2.8 %)\n"


class _WebServer(Quiet, BaseHTTPRequestHandler):
    """Keeps the address and the JSON of each request."""

    requests: ClassVar[list[tuple[str, dict[str, str]]]] = []

    def do_POST(self) -> None:
        assert self.headers["Content-Type"] == "application/json"
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.requests.append((self.path, json.loads(content)))
        self.send_response(201)
        self.end_headers()


@pytest.mark.skipif(not (shutil.which("jq") and shutil.which("curl")), reason="needs jq and curl")
def test_a_report_that_is_new_is_sent_once(tmp_path: Path) -> None:
    section = (ROOT / "docs" / "answers.md").read_text().partition("Save this as")[2]
    script = section.partition("```sh\n")[2].partition("```")[0]
    options = "report --as text --state measured"
    program = f'#!/bin/sh\n[ "$*" = "{options}" ] && cat changes.txt\n'
    write_program(tmp_path / ".venv/bin/asv-watch", program)

    with served(_WebServer) as http_address:
        environment = os.environ | {
            "MAIL": "me@example.org",
            "SMTP": f"file://{tmp_path}/mail",  # curl writes there what it would send
            "GITHUB_TOKEN": "secret",
            "GITHUB_API_URL": f"http://{http_address}",
            "GITHUB_REPOSITORY": "owner/name",
            "SLACK_WEBHOOK": f"http://{http_address}/hook",
        }
        for report in (REPORT, REPORT, REPORT + REPORT):
            (tmp_path / "changes.txt").write_text(report)
            run("sh", "-c", script, cwd=tmp_path, env=environment)
            assert (tmp_path / "mail").read_text() == f"Subject: benchmarks\n\n{report}"
    issue, body = "/repos/owner/name/issues", {"title": "Benchmarks changed"}
    assert _WebServer.requests == [
        (issue, body | {"body": REPORT}),
        ("/hook", {"text": REPORT}),
        (issue, body | {"body": REPORT + REPORT}),
        ("/hook", {"text": REPORT + REPORT}),
    ]
