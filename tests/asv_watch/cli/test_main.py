"""The command as a whole: what it imports, what it says without a package, its exit statuses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from asv_watch.cli.commands import COMMANDS
from asv_watch.cli.main import main
from tests.conftest import ROOT

HEAVY = ("torch", "asv", "numpy", "matplotlib")
WITHOUT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None  # as if it were not installed
from asv_watch.cli.main import main
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
    code = f"import sys, asv_watch.cli.main\nprint([n for n in {HEAVY} if n in sys.modules])"
    assert _python(code).stdout == "[]\n"


def test_help_lists_every_command_with_neither_torch_nor_asv() -> None:
    done = _python(WITHOUT.format(missing=HEAVY), "--help")
    assert done.returncode == 0, done.stderr
    for name in COMMANDS:
        assert f" {name} " in done.stdout


@pytest.mark.parametrize("name", ["bench", "submit"])
def test_without_asv_watching_says_what_to_install(name: str, tmp_path: Path) -> None:
    required = {"submit": ["--to", "x"]}
    done = _python(WITHOUT.format(missing=["asv"]), name, *required.get(name, []), folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        f"asv-watch: the Python package asv is missing, which `asv-watch {name}` needs; "
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
        (["calibrate", "--comparisons", "0"], "--comparisons '0': give a number of at least 1"),
        (["calibrate", "--comparisons", "1; x"], "--comparisons '1; x': give a whole number"),
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


def test_a_closed_pipe_is_one_line() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = _python(WITHOUT.format(missing=[]), "--version", stdout=writer)
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == "asv-watch: standard output was closed, so the job was stopped\n"
