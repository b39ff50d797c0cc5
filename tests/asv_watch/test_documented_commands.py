"""Every command in the pages is one that the programs take, and that some test runs."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

from asv_watch.cli.main import app as asv_watch
from tests.asv_watch.clockwork import CLOCK
from tests.asv_watch.interruptible import start_driver
from tests.conftest import commit, git
from tests.docs.pages import ROOT, Page, pages
from torchspeed.cli.main import app as torchspeed

TUTORIAL = Page(ROOT / "docs" / "tutorial.md")
PROGRAMS = {"asv-watch": asv_watch, "torchspeed": torchspeed}
MODULES = {"asv": "asv", "asv-watch": "asv_watch.cli"}
PLACEHOLDERS = {"FILE": "table.csv", "[FOLDER]": ""}
"""What stands for an argument in a page, to an argument."""
NOT_RUN = {"make planted-slowdown": "takes hours", "make screenshots": "replaces pictures"}
GIVEN_BY_TESTS = {"--machine", "--silent"}
"""What `start_driver` always gives, and an option of make."""
HERE = {
    "main": "origin/main",
    "slower": "HEAD",
    "slow10": "HEAD",
    "slow": "HEAD",
    "$SLURM_ARRAY_TASK_ID/5": "2/5",
}
"""A word of a command in the pages, to what it is in the project of this test."""
SUITE = f"""{CLOCK}
class SmallCNNs:
    params = ["gru", "lenet5"]
    param_names = ["model"]
    timer = Clock.read
    sample_time = 0.005
    warmup_time = 0

    def time_forward(self, model):
        Clock.now += random.gauss(1e-3, 2e-6)

    def peakmem_forward(self, model):
        return list(range(2000))
"""


def _documented() -> list[str]:
    commands = {
        " ".join(PLACEHOLDERS.get(word, word) for word in command.split())
        for page in pages()
        for command in page.commands()
        if page.name != "CHANGELOG.md"
    }
    return sorted(commands)


DOCUMENTED = _documented()


def _starting(*programs: str) -> list[str]:
    return [
        command for command in DOCUMENTED if command.startswith(tuple(f"{p} " for p in programs))
    ]


READ_HERE = [command for command in DOCUMENTED if "ci-2core" in command]
"""Commands whose page shows what they print of the results in this checkout."""


@cache
def _words_of_tests() -> dict[Path, frozenset[str]]:
    """Words of the texts in each test module, with its keyword arguments as options.

    `test_tutorial` runs the commands of a page, which count like texts of its own.
    """
    commands = "\n".join(TUTORIAL.commands())
    words = {TUTORIAL.path: frozenset(re.split(r"[\s=]+", commands))}
    for path in (ROOT / "tests").rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
        options = [node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg]
        words[path] = frozenset(
            word for text in texts if isinstance(text, str) for word in re.split(r"[\s=]+", text)
        ) | {f"--{option.replace('_', '-')}" for option in options}
    return words


@pytest.mark.parametrize("command", _starting(*PROGRAMS))
def test_a_program_takes_what_a_page_shows(command: str) -> None:
    program, name, *arguments = shlex.split(command.removesuffix(" --help"))
    group = typer.main.get_group(PROGRAMS[program])
    with group.make_context(program, [name], resilient_parsing=True) as context:
        subcommand = group.get_command(context, name)
        assert subcommand is not None, f"{program} has no command {name}"
        described = subcommand.make_context(name, [], parent=context, resilient_parsing=True)
        needed = {parameter.name for parameter in described.command.params if parameter.required}
        if arguments or not needed:  # a bare name is the command, not a command line
            subcommand.make_context(name, arguments, parent=context).close()


def _is_run_elsewhere(command: str) -> bool:
    program, *words = shlex.split(command)
    name = next(word for word in words if not word.startswith("-"))
    given = {word.partition("=")[0] for word in words if "=" in word or word.startswith("--")}
    needed = given - GIVEN_BY_TESTS
    in_tutorial = command in Page(ROOT / "docs" / "tutorial.md").commands()
    return (
        f"{program} {name}" in NOT_RUN
        or in_tutorial
        or all(
            any({name, option} <= known for known in _words_of_tests().values())
            for option in [name, *needed]
        )
    )


@pytest.mark.parametrize("command", _starting("make"))
def test_a_test_makes_what_a_page_makes(command: str) -> None:
    assert _is_run_elsewhere(command)


@pytest.fixture
def project(make_project: Callable[..., Path]) -> Path:
    """Four commits of a suite whose cases have names that the pages show."""
    root = make_project("", {"benchmarks/small_cnns.py": SUITE, "src/package.py": ""})
    for number in range(3):
        commit(root, {"benchmarks/small_cnns.py": f"{SUITE}# {number}\n"}, f"Edit {number}")
    git(root, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    return root


def _run_here() -> list[str]:
    """Commands that no other test runs, without those that others contain with more options."""
    options = {
        command: frozenset(word for word in command.split() if word.startswith("--"))
        for command in _starting("asv-watch")
        if command not in READ_HERE and not _is_run_elsewhere(command)
    }
    jobs = {command: command.split()[1] for command in options}
    return [
        command
        for command in options
        if not any(
            jobs[other] == jobs[command] and options[command] < options[other] for other in options
        )
    ]


@pytest.mark.parametrize("command", _run_here())
def test_what_no_other_test_runs_is_run(command: str, project: Path, tmp_path: Path) -> None:
    _, job, *arguments = shlex.split(command)
    process = start_driver(job, project, tmp_path, *(HERE.get(word, word) for word in arguments))
    output, wrong = process.communicate()
    assert process.returncode == 0, output + wrong


@pytest.mark.parametrize("command", READ_HERE)
def test_a_command_that_reads_the_tracked_results_runs(command: str) -> None:
    program, *arguments = shlex.split(command)
    done = subprocess.run(
        [sys.executable, "-m", MODULES[program], *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("command", _starting("python -m"))
def test_a_module_that_a_page_runs_exists(command: str) -> None:
    assert find_spec(command.split()[2]) is not None
