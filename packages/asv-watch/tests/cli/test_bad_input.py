"""Each way a run cannot succeed: one line that names it and the remedy, nothing measured."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.cli.main import main
from tests import torchless
from tests.conftest import git

CONFIGURATION = json.dumps(
    {key: value for key, value in torchless.CONFIGURATION.items() if key != "pythons"}
)
TREE = {
    "asv.conf.json": CONFIGURATION,
    "benchmarks/__init__.py": "",
    "src/package/__init__.py": "",
    ".gitignore": ".asv/\n",
}

SUITE = "def track_it():\n    return 1\n"

Bench = Callable[..., str]


def test_windows_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert main(["report"]) == 1
    assert capsys.readouterr().err == (
        "asv-watch: Windows is not supported; install it in WSL 2, which is a Linux\n"
    )


@pytest.fixture
def bench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Bench:
    """Runs the driver in a folder; returns the one line it says, before it makes an environment.

    Where it is ``late``, it has made one.
    """
    monkeypatch.setenv("HOME", str(tmp_path))

    def work(folder: Path, *arguments: str, late: bool = False) -> str:
        monkeypatch.chdir(folder)
        assert main(["bench", *arguments]) == 1
        complaint = capsys.readouterr().err
        assert complaint.count("\n") == 1, complaint
        assert late or not (folder / ".asv" / "env").exists()
        return complaint

    return work


@pytest.fixture
def repository(make_repository: Callable[..., Path]) -> Path:
    return make_repository(TREE)


def test_not_a_checkout(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    complaint = bench(folder)
    assert f"{folder} is not a git checkout" in complaint
    assert "git clone" in complaint


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_a_checkout_of_another_user(bench: Bench, repository: Path) -> None:
    for path in (repository, repository / ".git"):
        os.chown(path, 12345, 12345)
    assert "belongs to another user" in bench(repository)


@pytest.mark.parametrize("name", ["src/package/new.py", "benchmarks/__init__.py"])
def test_uncommitted_change_of_what_is_measured(bench: Bench, repository: Path, name: str) -> None:
    path = repository / name
    path.parent.mkdir(exist_ok=True)
    path.write_text((path.read_text() if path.exists() else "") + "\n")
    complaint = bench(repository)
    assert "differs from HEAD" in complaint
    assert name.split("/", maxsplit=1)[0] in complaint
    assert "git stash" in complaint


def test_configuration_that_is_damaged(bench: Bench, make_repository: Callable[..., Path]) -> None:
    complaint = bench(make_repository(TREE | {"asv.conf.json": "{"}))
    assert "asv.conf.json cannot be read" in complaint
    assert "git checkout asv.conf.json" in complaint


def test_machine_that_cannot_name_a_folder(bench: Bench, repository: Path) -> None:
    assert "machine name '../elsewhere'" in bench(repository, "--machine", "../elsewhere")


def test_results_that_cannot_be_written(bench: Bench, repository: Path) -> None:
    (repository / "results").write_text("a file stands where the folder should be")
    git(repository, "add", "results")
    git(repository, "commit", "--message", "A file")
    complaint = bench(repository)
    assert f"results cannot be written to {repository / 'results'}" in complaint


def test_cases_that_nothing_matches(bench: Bench, make_project: Callable[..., Path]) -> None:
    complaint = bench(make_project(SUITE), "--cases", "nosuch", late=True)
    assert complaint == "asv-watch: no case matches nosuch; try a part of a name\n"
