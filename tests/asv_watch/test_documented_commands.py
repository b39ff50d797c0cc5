"""Every command in the pages is one that the programs take, and what make makes is tested."""

from __future__ import annotations

import ast
import re
import shlex
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

from asv_watch.cli.main import app as asv_watch
from tests.docs.pages import ROOT, Page, pages
from torchspeed.cli.main import app as torchspeed

TUTORIAL = Page(ROOT / "docs" / "tutorial.md")
PROGRAMS = {"asv-watch": asv_watch, "torchspeed": torchspeed}
PLACEHOLDERS = {"FILE": "table.csv", "[FOLDER]": "", "[--remove]": "--remove"}
"""What stands for an argument in a page, to an argument."""
NOT_RUN = {"make planted-slowdown": "takes hours", "make screenshots": "replaces pictures"}
GIVEN_BY_TESTS = {"--machine", "--silent"}
"""What drivers of tests always give, and an option of make."""


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
    program, name, *arguments = shlex.split(command)
    group = typer.main.get_group(PROGRAMS[program])
    with group.make_context(program, [name], resilient_parsing=True) as context:
        subcommand = group.get_command(context, name)
        assert subcommand is not None, f"{program} has no command {name}"
        needed = {parameter.name for parameter in subcommand.params if parameter.required}
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


@pytest.mark.parametrize("command", _starting("python -m"))
def test_a_module_that_a_page_runs_exists(command: str) -> None:
    assert find_spec(command.split()[2]) is not None
