"""Both commands as a whole: what they import, and what they say without a package."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from asv_watch.cli.main import app as asv_watch
from tests.conftest import ROOT, run
from tests.programs import run_program
from torchspeed.cli.main import app as torchspeed

HEAVY = ("torch", "asv", "numpy", "matplotlib")
APPS: dict[str, Any] = {"asv_watch": asv_watch, "torchspeed": torchspeed}
EVERY_PACKAGE = pytest.mark.parametrize("package", APPS)


@EVERY_PACKAGE
def test_a_command_loads_nothing_heavy(package: str) -> None:
    code = f"import sys, {package}.cli.main\nprint([n for n in {HEAVY} if n in sys.modules])"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    assert run(sys.executable, "-c", code, env=environment).stdout == "[]\n"


@EVERY_PACKAGE
def test_help_lists_every_command_with_neither_torch_nor_asv(package: str) -> None:
    done = run_program(package, "--help", missing=HEAVY)
    assert done.returncode == 0, done.stderr
    for command in APPS[package].registered_commands:
        assert f" {command.name} " in done.stdout


def test_training_says_what_to_install() -> None:
    done = run_program("torchspeed", "list", missing=["torch"])
    assert done.returncode == 1
    assert done.stderr == (
        "torchspeed: the Python package torch is missing; "
        "run `pip install 'torchspeed[measure,train]'`\n"
    )


@pytest.mark.parametrize(
    ("package", "arguments"),
    [("asv_watch", "--version"), ("torchspeed", "--version"), ("torchspeed", "list")],
)
def test_a_closed_pipe_is_one_line(package: str, arguments: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = run_program(package, arguments, stdout=writer)
    os.close(writer)
    assert done.returncode == 1
    name = package.replace("_", "-")
    assert done.stderr == f"{name}: standard output was closed, so the job was stopped\n"
