"""The command as a whole: what it imports, and what it says without a package."""

from __future__ import annotations

import os
import re
import sys

import pytest

from tests.conftest import ROOT, run
from tests.programs import run_program

HEAVY = ("torch", "asv", "numpy", "matplotlib")
COMMANDS = ["train", "inference", "smooth-inference", "sweep", "reproduce", "list", "info"]


def test_the_command_loads_nothing_heavy() -> None:
    code = f"import sys, torchspeed.cli.main\nprint([n for n in {HEAVY} if n in sys.modules])"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    assert run(sys.executable, "-c", code, env=environment).stdout == "[]\n"


def test_help_lists_every_command_without_torch() -> None:
    done = run_program("--help", missing=HEAVY)
    assert done.returncode == 0, done.stderr
    for command in COMMANDS:
        assert re.search(rf"\s{command}\s", done.stdout)


def test_training_says_what_to_install() -> None:
    done = run_program("train", missing=["torch"])
    assert done.returncode == 1
    assert done.stderr == (
        "torchspeed: the Python package torch is missing; "
        "run `pip install 'torchspeed[measure,train]'`\n"
    )


@pytest.mark.parametrize("argument", ["--version", "list"])
def test_a_closed_pipe_is_one_line(argument: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = run_program(argument, stdout=writer)
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == "torchspeed: standard output was closed, so the job was stopped\n"
