"""The command as a whole: what it imports, what it says without a package, its exit statuses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from torchspeed.cli.commands import COMMANDS, TRAIN, WATCH
from torchspeed.cli.main import main

HEAVY = ("torch", "asv", "numpy", "matplotlib")
WITHOUT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None  # as if it were not installed
from torchspeed.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def _python(
    code: str, *arguments: str, folder: Path = ROOT, stdout: int = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "COLUMNS": "160"},
        check=False,
    )


def test_the_command_loads_nothing_heavy() -> None:
    code = f"import sys, torchspeed.cli.main\nprint([n for n in {HEAVY} if n in sys.modules])"
    assert _python(code).stdout == "[]\n"


def test_help_lists_every_command_with_neither_torch_nor_asv() -> None:
    done = _python(WITHOUT.format(missing=HEAVY), "--help")
    assert done.returncode == 0, done.stderr
    for name in COMMANDS:
        assert f" {name} " in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    assert f"torchspeed {name} " in capsys.readouterr().out


def test_watching_works_without_torch_and_training_says_what_to_install(tmp_path: Path) -> None:
    code = WITHOUT.format(missing=["torch"])
    done = _python(code, "publish", folder=tmp_path)
    assert "asv.conf.json cannot be read" in done.stderr  # it came as far as that
    done = _python(code, "list")
    assert done.returncode == 1
    assert done.stderr == (
        "torchspeed: the Python package torch is missing, which `torchspeed list` needs; "
        f"run `pip install 'torchspeed[{TRAIN}]'`\n"
    )


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, command in COMMANDS.items()
        if command.extras == WATCH and name != "gate-comment"  # it needs no asv
    ],
)
def test_without_asv_watching_says_what_to_install(name: str, tmp_path: Path) -> None:
    required = {
        "explain": ["--cases", "x"],
        "bisect": ["--cases", "x", "--before", "HEAD"],
        "results": ["check"],
        "submit": ["--to", "x"],
    }
    done = _python(WITHOUT.format(missing=["asv"]), name, *required.get(name, []), folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        f"torchspeed: the Python package asv is missing, which `torchspeed {name}` needs; "
        "run `pip install 'torchspeed[watch]'`\n"
    )


def test_training_works_without_asv() -> None:
    done = _python(WITHOUT.format(missing=["asv"]), "list")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bench", "--runs", "3"], "No such option: --runs; see --help"),
        (["nightly", "--before", "HEAD"], "No such option: --before; see --help"),
        (
            ["compare", "--comparisons", "1"],
            "No such option: --comparisons (Possible options: --cases); see --help",
        ),
        (["calibrate", "--before", "HEAD"], "No such option: --before; see --help"),
        (["publish", "--torch", "all"], "No such option: --torch; see --help"),
        (["calibrate", "--runs", "1"], "--runs '1': give a number of at least 2"),
        (["calibrate", "--runs", "1; touch x"], "--runs '1; touch x': give a whole number"),
        (["preview", "--port", "99999"], "--port '99999': give a number of at most 65535"),
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


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("torchspeed 0.")


@pytest.mark.parametrize("arguments", [["--version"], ["info", "--published"]])
def test_a_closed_pipe_is_one_line(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = _python(WITHOUT.format(missing=[]), *arguments, stdout=writer)
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == "torchspeed: standard output was closed, so the job was stopped\n"
