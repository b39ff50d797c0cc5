"""`asv-watch submit`: results reach a results repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from asv_watch.cli.main import main
from tests.asv_watch.exchange.test_results import checkout, measured, result_file
from tests.conftest import git

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
        ([], "--to"),
        (["--to", str(tmp_path / "nowhere"), "--machine", "m"], "cannot be cloned"),
        (["--to", str(checkout), "--machine", "other"], "holds no results; measure first"),
    ):
        assert main(["submit", *arguments]) in {1, 2}
        printed = capsys.readouterr().err
        assert message in printed
        assert printed.count("\n") == 1
    result_file(checkout).write_text("{")
    assert main(["submit", "--to", str(checkout), "--machine", "m"]) == 1
    assert "it is not JSON" in capsys.readouterr().err
