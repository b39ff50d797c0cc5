"""Folders, branches and repositories of results that come from people who may mean harm."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from asv_watch.cli.main import main
from asv_watch.exchange import limits
from tests.asv_watch.exchange.test_results import (
    checkout,
    measured,
    other_machine,
    result_file,
)
from tests.asv_watch.exchange.test_submit import identity
from tests.conftest import commit, git

__all__ = ["checkout", "identity", "measured"]  # fixtures
SECRET = "the only copy of a secret"  # noqa: S105


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that nothing may be read from or written to."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text(SECRET)
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A results repository that has no results yet."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "Begin")
    return folder


@pytest.mark.usefixtures("identity")
@pytest.mark.fault("hostile results", tried="links in place of files or folders, too many bytes")
@pytest.mark.parametrize("name", ["m/leak.jsonl", "benchmarks.json"])
def test_no_link_is_submitted(
    checkout: Path,
    outside: Path,
    repository: Path,
    name: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    link = checkout / "results" / name
    link.unlink(missing_ok=True)
    (checkout / "results/m/benchmarks.json").unlink()
    link.symlink_to(outside / "secret")
    assert main(["submit", "--to", str(repository), "--machine", "m"]) == 1
    assert f"{link} is a symbolic link" in capsys.readouterr().err
    assert git(repository, "branch", "--format=%(refname:short)") == "main"


@pytest.mark.usefixtures("identity")
@pytest.mark.parametrize("link_name", ["results", "results/m", "results/m/machine.json"])
def test_nothing_is_written_through_a_link_of_a_repository(
    checkout: Path,
    outside: Path,
    repository: Path,
    link_name: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    link = repository / link_name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside / "secret" if link_name.endswith(".json") else outside)
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "A trap")
    assert main(["submit", "--to", str(repository), "--machine", "m"]) == 1
    assert f"{link_name} is a symbolic link in {repository}" in capsys.readouterr().err
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"secret": SECRET}


@pytest.mark.parametrize("kind", ["folder", "branch"])
def test_no_link_is_merged(
    checkout: Path,
    outside: Path,
    tmp_path: Path,
    kind: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    theirs = other_machine(checkout, tmp_path / "theirs")
    (theirs / "n/leak.jsonl").symlink_to(outside / "secret")
    source = str(theirs)
    if kind == "branch":
        git(checkout, "checkout", "--quiet", "-b", "night")
        shutil.copytree(theirs, checkout / "results", symlinks=True, dirs_exist_ok=True)
        git(checkout, "add", "--force", "results")
        git(checkout, "commit", "--quiet", "--message", "A trap")
        git(checkout, "checkout", "--quiet", "main")
        source = "night"
    assert main(["results", "merge", source]) == 1
    printed = capsys.readouterr().err
    assert "leak.jsonl" in printed
    assert "link" in printed
    assert printed.count("\n") == 1
    assert not (checkout / "results/n").exists()


def test_nothing_is_merged_through_a_link(
    checkout: Path, outside: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = other_machine(checkout, tmp_path / "theirs")
    (checkout / "results/n").symlink_to(outside)
    assert main(["results", "merge", str(theirs)]) == 1
    assert "results/n is a symbolic link" in capsys.readouterr().err
    assert [path.name for path in outside.iterdir()] == ["secret"]


@pytest.mark.fault("hostile results", tried="files that are no results", holds="left out")
def test_only_results_are_merged(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = other_machine(checkout, tmp_path / "theirs")
    for name in ("conftest.py", "n/run.sh", "n/comparisons/x/y.jsonl"):
        (theirs / name).parent.mkdir(parents=True, exist_ok=True)
        (theirs / name).write_text("raise SystemExit")
    assert main(["results", "merge", str(theirs)]) == 0
    assert "left out, as no results: 'conftest.py' and 2 more" in capsys.readouterr().out
    kinds = {path.suffix for path in (checkout / "results").rglob("*") if path.is_file()}
    assert kinds == {".json", ".jsonl"}
    assert not (checkout / "results/n/comparisons").exists()


@pytest.mark.parametrize("kind", ["folder", "branch"])
def test_too_much_is_not_merged(
    checkout: Path,
    tmp_path: Path,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = str(other_machine(checkout, tmp_path / "theirs"))
    if kind == "folder":
        with (Path(source) / "n/bomb.jsonl").open("wb") as stream:
            stream.truncate(3 * 1024**3)
    else:
        monkeypatch.setattr(limits, "MOST_BYTES", 1000)
        commit(checkout, {"bomb.json": " " * 1001}, "A bomb")
        source = "HEAD"
    assert main(["results", "merge", source]) == 1
    assert "give fewer at a time" in capsys.readouterr().err


@pytest.mark.fault(
    "wrong configurations and requests", tried="a password in an address, no identity of git"
)
def test_a_failed_submission_shows_no_password_and_names_the_cause(
    checkout: Path,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.useConfigOnly")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    assert main(["submit", "--to", str(repository), "--machine", "m"]) == 1
    assert "git config --global user.name" in capsys.readouterr().err
    git(checkout, "config", "user.name", "Ann")
    git(checkout, "config", "user.email", "ann@example.org")
    assert main(["submit", "--to", "http://ann:s3cret@127.0.0.1:9/x", "--machine", "m"]) == 1
    printed = capsys.readouterr().err
    assert "http://127.0.0.1:9/x cannot be cloned" in printed
    assert "s3cret" not in printed
    assert main(["submit", "--to", str(repository), "--machine", "m"]) == 0
    assert (
        git(repository, "log", "--branches=results-*", "-1", "--format=%an %ae")
        == "Ann ann@example.org"
    )


@pytest.mark.fault("damaged files", tried="a result file, in reports and exports")
def test_what_is_left_out_of_a_report_or_an_export_is_named(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = result_file(checkout)
    path.write_text("{")
    for command in (["report"], ["results", "export", "table.csv"]):
        assert main(command) == 3
        assert f"left out: {path}: it is not JSON" in capsys.readouterr().err


@pytest.mark.fault("hostile text", tried="a parameter that begins with =, +, - or @")
def test_no_cell_of_an_export_is_a_formula(checkout: Path) -> None:
    git(checkout, "tag", "=cmd|'-x'!A1")
    assert main(["results", "export", "table.csv"]) == 0
    text = (checkout / "table.csv").read_text()
    assert "'=cmd" in text
    assert not [line for line in text.splitlines() if ",=" in line or line.startswith("=")]
