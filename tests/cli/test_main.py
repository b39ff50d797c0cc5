"""The command as a whole: what it imports, what it says without a package, its exit statuses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from torchspeed.cli.main import app

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
    for command in app.registered_commands:
        assert f" {command.name} " in done.stdout


def test_training_says_what_to_install() -> None:
    done = _python(WITHOUT.format(missing=["torch"]), "list")
    assert done.returncode == 1
    assert done.stderr == (
        "torchspeed: the Python package torch is missing; "
        "run `pip install 'torchspeed[measure,train]'`\n"
    )


@pytest.mark.parametrize("arguments", [["--version"], ["list"]])
def test_a_closed_pipe_is_one_line(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = _python(WITHOUT.format(missing=[]), *arguments, stdout=writer)
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == "torchspeed: standard output was closed, so the job was stopped\n"
