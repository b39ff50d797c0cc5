"""`asv-watch submit`: results reach a results repository, or a Codespeed server."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from asv_watch.cli.main import main
from tests.asv_watch.exchange.test_results import checkout, measured, other_machine, result_file
from tests.conftest import git
from tests.servers import Quiet, served

__all__ = ["checkout", "measured"]  # fixtures


@pytest.fixture
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person whom git knows."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")


@pytest.mark.usefixtures("identity")
def test_a_machines_results_become_a_branch_of_the_results_repository(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "target"
    target.mkdir()
    git(target, "init", "--quiet", "--initial-branch=main")
    git(target, "commit", "--quiet", "--allow-empty", "--message", "Begin")
    assert main(["submit", "--to", "../target", "--machine", "m"]) == 0
    assert "open a pull request from it" in capsys.readouterr().out
    [branch] = git(target, "branch", "--list", "results-m-*", "--format=%(refname:short)").split()
    files = git(target, "ls-tree", "-r", "--name-only", branch).splitlines()
    own = {p.relative_to(checkout).as_posix() for p in (checkout / "results/m").rglob("*.json*")}
    assert own < set(files)
    assert set(files) - own == {"results/benchmarks.json"}
    git(target, "checkout", "--quiet", branch)
    assert main(["submit", "--to", str(target), "--machine", "m"]) == 0
    assert "has all results of m already" in capsys.readouterr().out


@pytest.mark.usefixtures("identity")
def test_what_cannot_be_submitted_is_one_line(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, message in (
        ([], "give --to or --codespeed"),
        (["--to", str(tmp_path / "nowhere"), "--machine", "m"], "cannot be cloned"),
        (["--to", str(checkout), "--machine", "other"], "holds no results; measure first"),
        *(
            (["--codespeed", address, "--machine", "m"], "is not an http address")
            for address in ("ftp://x", "http://[::1", "http://x\n/", "http://", "http://x:y")
        ),
        (["--codespeed", "http://127.0.0.1:9", "--machine", "m"], "does not answer"),
        (["--codespeed", "http://127.0.0.1:9", "--machine", "x"], "no time of machine 'x'"),
    ):
        assert main(["submit", *arguments]) in {1, 2}
        printed = capsys.readouterr().err
        assert message in printed
        assert printed.count("\n") == 1
    result_file(checkout).write_text("{")
    assert main(["submit", "--to", str(checkout), "--machine", "m"]) == 1
    assert "it is not JSON" in capsys.readouterr().err


@pytest.fixture
def codespeed() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that answers as Codespeed 0.13.0 did, and what it got."""
    received: list[dict[str, Any]] = []

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"])).decode()
            results = json.loads(urllib.parse.parse_qs(content)["json"][0])
            known = all(result["environment"] == "m" for result in results)
            if self.headers.get("Authorization") != "Basic YW5uOnMzY3JldA==":  # ann:s3cret
                status, text = 401, "Authentication required"
            elif self.path == "/result/add/json/" and known:
                received.extend(results)
                status, text = 202, "All result data saved successfully"
            else:
                status, text = 400, "Environment x not found"
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

    with served(Handler) as address:
        yield f"http://{address}", received


def test_times_are_sent_to_codespeed(
    checkout: Path,
    codespeed: tuple[str, list[dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    address, received = codespeed
    assert main(["submit", "--codespeed", address, "--machine", "m"]) == 1
    assert "give name:password of a user there in ASV_WATCH_CODE" in capsys.readouterr().err
    monkeypatch.setenv("ASV_WATCH_CODESPEED_LOGIN", "ann:s3cret")
    assert main(["submit", "--codespeed", f"{address}/", "--machine", "m"]) == 0
    printed = capsys.readouterr().out
    assert printed == "2 results: All result data saved successfully\n"
    head = git(checkout, "rev-parse", "HEAD")
    assert [result["benchmark"] for result in received] == [
        "suite.Suite.time_it('a')",
        "suite.Suite.time_it('b')",
    ]  # neither the failed case nor the one that counts words
    for result in received:
        assert result["commitid"] == head
        assert (result["project"], result["branch"]) == ("p", "main")
        assert result["result_value"] > 0
        assert len(result["executable"]) <= 30
    other_machine(checkout, checkout / "x")
    (checkout / "x/results/n").rename(checkout / "results/n")
    assert main(["submit", "--codespeed", address, "--machine", "n"]) == 1
    assert "400: Environment x not found" in capsys.readouterr().err
