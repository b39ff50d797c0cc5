"""The whole command: what it imports, what it says to wrong options, how signals end it."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from asv_watch.cli.main import COMMANDS, main
from tests.conftest import ROOT, git

HEAVY = ("asv", "numpy")
WITHOUT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None  # as if it were not installed
from asv_watch.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def run_program(
    *arguments: str,
    missing: Sequence[str] = (),
    folder: Path = ROOT,
    stdout: int = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, where packages are missing."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT.format(missing=missing), *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "COLUMNS": "160"},
        check=False,
    )


def test_help_lists_every_command_without_asv() -> None:
    done = run_program("--help", missing=HEAVY)
    assert done.returncode == 0, done.stderr
    for command in COMMANDS:
        assert f" {command} " in done.stdout


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


SLOW = """
import sys, time
from unittest.mock import patch
from asv_watch.cli import main

def wait(*_):
    print("begun", flush=True)
    time.sleep(60)

with patch("asv_watch.asv.conf.load_settings", wait):
    sys.exit(main.main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["report"], "SIGINT"),
        (["results", "check"], "SIGTERM"),
        (["results", "check"], "SIGHUP"),
    ],
)
def test_a_command_that_a_signal_ends_says_so(
    command: list[str], name: str, tmp_path: Path
) -> None:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "Begin")
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, *command],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    number = signal.Signals[name]
    process.send_signal(number)
    _, errors = process.communicate()
    how = "interrupted" if name == "SIGINT" else f"ended by {name}"
    assert errors == f"asv-watch: {how}\n"
    assert process.returncode == 128 + number
