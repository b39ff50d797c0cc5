"""The command as a whole: what it imports, and what it says without a package."""

import os
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.programs import modules_without, run_program

HEAVY = ("torch", "asv", "numpy", "matplotlib")
COMMANDS = ["train", "inference", "smooth-inference", "sweep", "reproduce", "list", "info"]


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


TRAIN = "measure,train"


def test_nothing_but_the_documented_extras_is_needed_to_train(root: Path, tmp_path: Path) -> None:
    assert f"pip install '.[{TRAIN}]'" in (root / "docs" / "training.md").read_text()
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"]]
    for extra in TRAIN.split(","):
        wanted += project["optional-dependencies"][extra]
    absent = modules_without(Requirement(line).name for line in wanted)
    assert {"asv", "playwright"} <= set(absent)
    command = ["train", "--limit-batches", "2", "-e", "1", "-q", "--json", "result.json"]
    done = run_program(*command, missing=absent, folder=tmp_path)
    assert done.stderr == ""
    assert done.returncode == 0
    assert (tmp_path / "result.json").exists()
