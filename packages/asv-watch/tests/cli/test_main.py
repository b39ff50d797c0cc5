"""The whole command: what it imports, and each way it cannot succeed: one line that says why."""

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from asv_watch.cli.main import COMMANDS, main
from tests.conftest import ROOT, run
from tests.interruptible import run_driver
from tests.torchless import CONFIGURATION, project_files

WITHOUT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None  # as if it were not installed
from asv_watch.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def run_program(*arguments: str, missing: Sequence[str] = (), **options: Any) -> Any:
    """Run the command in a process of its own, where packages are missing."""
    program = sys.executable, "-c", WITHOUT.format(missing=missing)
    variables = os.environ | {"PYTHONPATH": str(ROOT / "src"), "COLUMNS": "160"}
    return run(*program, *arguments, env=variables, **options)


def test_help_lists_every_command_without_asv() -> None:
    printed = run_program("--help", missing=("asv", "numpy")).stdout
    for command in COMMANDS:
        assert f" {command} " in printed


def test_a_closed_pipe_is_one_line() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    version = f'"{sys.executable}" -m asv_watch.cli --version >&{writer}'
    done = run("bash", "-c", version, status=1, pass_fds=(writer,))
    os.close(writer)
    assert done.stderr == "asv-watch: standard output was closed, so the job was stopped\n"


def test_without_asv_measuring_says_what_to_install(tmp_path: Path) -> None:
    assert run_program("bench", missing=["asv"], cwd=tmp_path, status=1).stderr == (
        "asv-watch: the Python package asv is missing, which `asv-watch bench` needs; "
        "install asv-watch again, with all that it requires\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["compare", "--comparisons", "1"],
            "No such option: --comparisons (Possible options: --cases); see --help",
        ),
        (
            ["calibrate", "--comparisons", "0"],
            "--comparisons '0': Input should be greater than or equal to 1",
        ),
        (["results", "mend"], "action 'mend': 'mend' is not one of 'check'"),
        ([], "Missing command; see --help"),
    ],
    ids=["option", "value", "argument", "command"],
)
def test_a_wrong_command_line_is_one_line(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    # What is not refused must find nothing to measure.
    error = run_program(*arguments, cwd=tmp_path, status=2).stderr
    assert error.count("\n") == 1
    assert error.endswith(f"{message}\n")


def test_an_interrupt_of_what_measures_nothing_promises_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("asv_watch.results.load_settings", Mock(side_effect=KeyboardInterrupt))
    assert main(["results", "check"]) == 130
    assert capsys.readouterr().err == "asv-watch: interrupted\n"


SUITE = "def track_it():\n    return 1\n"
CHANGED = "differs from HEAD", "git stash"


def test_windows_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert main(["report"]) == 1
    assert capsys.readouterr().err == (
        "asv-watch: Windows is not supported; install it in WSL 2, which is a Linux\n"
    )


def refused(folder: Path, *arguments: str) -> str:
    """Run `bench`, which makes no environment; return the one line it says."""
    _, errors = run_driver("bench", folder, folder.parent, *arguments, status=1)
    assert errors.count("\n") == 1, errors
    assert not (folder / ".asv" / "env").exists()
    return errors


@pytest.fixture
def repository(make_repository: Callable[..., Path]) -> Path:
    return make_repository(project_files(SUITE, {"src/package.py": ""}))


def test_not_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    complaint = refused(folder)
    assert f"{folder} is not a git checkout" in complaint
    assert "git clone" in complaint


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_a_checkout_of_another_user(repository: Path) -> None:
    for path in (repository, repository / ".git"):
        os.chown(path, 12345, 12345)
    assert "belongs to another user" in refused(repository)


@pytest.mark.parametrize(
    ("files", "arguments", "named"),
    [
        ({"src/new.py": "\n"}, (), ("src", *CHANGED)),
        ({"benchmarks/__init__.py": "\n"}, (), ("benchmarks", *CHANGED)),
        ({"asv.conf.json": "{"}, (), ("asv.conf.json cannot be read", "git checkout asv.conf")),
        (
            {"asv.conf.json": json.dumps(CONFIGURATION | {"benchmark_dir": "no"})},
            (),
            ("there is no folder {}/no, where the suites", '"benchmark_dir"'),
        ),
        ({"results": "a file"}, (), ("results cannot be written to {}/results",)),
        ({}, ("--machine", "../elsewhere"), ("machine name '../elsewhere'",)),
    ],
    ids=["a new file", "a changed suite", "damaged settings", "suites", "results", "machine"],
)
def test_what_prevents_a_run_is_named(
    repository: Path, files: dict[str, str], arguments: tuple[str, ...], named: tuple[str, ...]
) -> None:
    for name, text in files.items():
        (repository / name).write_text(text)
    complaint = refused(repository, *arguments)
    assert all(words.format(repository) in complaint for words in named), complaint
