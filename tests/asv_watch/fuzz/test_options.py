"""Every option of every command, given what nobody expects: a status, a line, no traceback.

Commands run in a project whose Python is not on this machine, so none measures anything.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.cli.main import app, main
from asv_watch.errors import ExitStatus
from asv_watch.terminal import printable
from tests.asv_watch.fuzz.damage import fuzz, no_hang
from tests.asv_watch.torchless import suite_files
from tests.conftest import commit, git

ODD_TEXTS = (
    *("", " ", "-", "--", "0", "-1", "１", "٣%", "1e400", "nan", "inf", "9" * 400, "4h\n", "3%"),
    *("\x1b[2J", "\ud800", "\u202e", "=1+1", "'", '"', "$(id)", "`id`", ";", "%s", "{}", "\\"),
    *("/", "..", "../..", "/dev/null", "/proc/self/mem", "~", "x" * 5000, "a/" * 2000),
    *(
        "^HEAD",
        "HEAD~99",
        "@",
        "@{u}",
        "HEAD@9.9",
        "main..main",
        ":/",
        "--all",
        "-h",
        "HEAD^{tree}",
    ),
    *("[", "(" * 3000, "a{99999999999}", "(a+)+$", "(?P<x>", "\\1", "*", "(?i)", "."),
    *("http://[::1", "https://", "file:///", "http://x\n/", "2/5", "0/0", "1/9999999", "newest"),
)
texts = st.sampled_from(ODD_TEXTS) | st.text(max_size=20).filter(lambda text: "\0" not in text)


def _parameters() -> list[tuple[str, str]]:
    """Every command with each of its options that takes a value, and once without any."""
    listed = []
    for name, command in typer.main.get_group(app).commands.items():
        listed.append((name, ""))
        with command.make_context(name, [], resilient_parsing=True) as context:
            listed += [
                (name, parameter.opts[0])
                for parameter in context.command.params
                if parameter.param_type_name == "option" and not getattr(parameter, "is_flag", 0)
            ]
    return listed


PARAMETERS = _parameters()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that cannot be measured here."""
    folder = tmp_path_factory.mktemp("options") / "project"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    suite = "def time_it():\n    pass\n"
    commit(folder, suite_files(suite, pythons=["3.99"], package_dir="src"), "Begin")
    return folder


@contextlib.contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Work in a folder, with a git that asks nobody and goes nowhere."""
    variables = {"GIT_ALLOW_PROTOCOL": "file", "GIT_TERMINAL_PROMPT": "0", "HOME": str(folder)}
    # Options such as -E stay in the environment of the process: that of the next test too.
    with contextlib.chdir(folder), mock.patch.dict(os.environ, variables):
        yield


@fuzz
@given(data=st.data())
@pytest.mark.fault(
    "wrong request",
    tried="every option of every command with odd texts, and arguments that are none",
    holds="no traceback, no hang; a status that the commands document, and one line for an error",
)
def test_options(project: Path, tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    name, option = data.draw(st.sampled_from(PARAMETERS))
    arguments = [name, *([f"{option}={data.draw(texts)}"] if option else [])]
    arguments += data.draw(st.lists(texts, max_size=2))
    folder = tmp_path_factory.mktemp("run") / "project"
    shutil.copytree(project, folder)
    printed, errors = io.StringIO(), io.StringIO()
    try:
        with (
            working_in(folder),
            no_hang(),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(errors),
        ):
            status = main(arguments)
    finally:
        shutil.rmtree(folder.parent)
    assert status in set(ExitStatus)
    if status in {ExitStatus.FAILED, ExitStatus.WRONG_REQUEST}:
        last = errors.getvalue().splitlines()[-1]
        assert last.startswith("asv-watch: ")
        assert last == printable(last)
