"""The command as a whole: what it imports, and what it says without asv and to wrong options."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from asv_watch.cli.main import app, main
from tests.conftest import ROOT, run
from tests.programs import run_program

HEAVY = ("asv", "numpy")


def test_the_command_loads_nothing_heavy() -> None:
    code = f"import sys, asv_watch.cli.main\nprint([n for n in {HEAVY} if n in sys.modules])"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    assert run(sys.executable, "-c", code, env=environment).stdout == "[]\n"


def test_help_lists_every_command_without_asv() -> None:
    done = run_program("--help", missing=HEAVY)
    assert done.returncode == 0, done.stderr
    for command in app.registered_commands:
        assert f" {command.name} " in done.stdout


def test_a_closed_pipe_is_one_line() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = run_program("--version", stdout=writer)
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == "asv-watch: standard output was closed, so the job was stopped\n"


def test_without_asv_watching_says_what_to_install(tmp_path: Path) -> None:
    done = run_program("bench", missing=["asv"], folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        "asv-watch: the Python package asv is missing, which `asv-watch bench` needs; "
        "install asv-watch again, with all that it requires\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bench", "--runs", "3"], "No such option: --runs; see --help"),
        (
            ["compare", "--comparisons", "1"],
            "No such option: --comparisons (Possible options: --cases); see --help",
        ),
        (
            ["calibrate", "--comparisons", "0"],
            "--comparisons '0': Input should be greater than or equal to 1",
        ),
        (["results", "mend"], "action 'mend': 'mend' is not one of 'check'"),
    ],
)
def test_an_option_of_another_command_is_an_error(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # what is not refused must find nothing to measure
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.endswith(f"{message}\n")
