"""Every option of every command, given what nobody expects: a status, a line, no traceback.

Commands run in a project with stored results, where no environment can be made: each of them
reads its options and results, and none measures anything.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import typer
from hypothesis import example, given
from hypothesis import strategies as st

from asv_watch.cli.main import app, main
from asv_watch.errors import ExitStatus
from asv_watch.text.terminal import printable
from tests.conftest import commit
from tests.fuzz.damage import fuzz, no_hang
from tests.generator import TIME_AND_MEMORY, Generated, Suite, generate, small_plan
from tests.torchless import project_files

# "\udcff" is what Python makes of a byte that is no UTF-8; other halves of characters cannot come
# from a command line.
ODD_TEXTS = (
    *("", " ", "-", "--", "0", "-1", "１", "٣%", "1e400", "nan", "inf", "9" * 400, "4h\n", "3%"),
    *("\x1b[2J", "\udcff", "\u202e", "=1+1", "'", '"', "$(id)", "`id`", ";", "%s", "{}", "\\"),
    *("/", "..", "../..", "/dev/null", "/proc/self/mem", "~", "x" * 5000, "a/" * 2000),
    *("^HEAD", "HEAD~99", "@", "@{u}", "HEAD@9.9", "main..main", ":/", "--all", "-h"),
    *("HEAD^{tree}", "HEAD@newest", "HEAD@all", ".", "./python", "/bin/false", "3.99"),
    *("[", "(" * 3000, "a{99999999999}", "(a+)+$", "(?P<x>", "\\1", "*", "(?i)"),
    *("http://[::1", "https://", "file:///", "http://x\n/", "2/5", "0/0", "1/9999999", "newest"),
    *("9999-99-99", "0001-01-01", "9999-12-31", "2026-11-26T25:00", "1/2", "conda:3.99"),
    *("virtualenv:same", "virtualenv-py3.99", "other/asv.conf.jsonc", "asv.conf.json"),
)
SOUND_TEXTS = ("HEAD", "HEAD~1", "v0.0.0", "desk", "20", "2026-11-26", "results")
texts = (
    st.sampled_from(ODD_TEXTS)
    | st.sampled_from(SOUND_TEXTS)
    | st.text(max_size=20).filter(lambda text: "\0" not in text)
)
FIRST_ARGUMENTS = {"results": ("check",)}


def _options() -> list[tuple[str, str]]:
    """Every command with each of its options that takes a value, and once without any."""
    listed = []
    for name, command in typer.main.get_group(app).commands.items():
        listed.append((name, ""))
        listed += [(name, option) for option, is_flag in _named(name, command) if not is_flag]
    return listed


def _named(name: str, command: Any) -> Iterator[tuple[str, bool]]:
    """Yield the options of a command, and whether each is a flag."""
    with command.make_context(name, [], resilient_parsing=True) as context:
        for parameter in context.command.params:
            if parameter.param_type_name == "option":
                yield parameter.opts[0], bool(parameter.is_flag)


OPTIONS = _options()
FLAGS = {
    name: [option for option, is_flag in _named(name, command) if is_flag]
    for name, command in typer.main.get_group(app).commands.items()
}


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """A command with one option, some flags and some arguments."""
    name, option = draw(st.sampled_from(OPTIONS))
    first = [draw(st.sampled_from(words)) for words in [FIRST_ARGUMENTS.get(name)] if words]
    value = [f"{option}={draw(texts)}"] if option else []
    flags = draw(st.lists(st.sampled_from(FLAGS[name]), max_size=2)) if FLAGS[name] else []
    arguments = draw(
        st.lists(texts, max_size=2 if first or name in {"compare", "releases"} else 1)
    )
    return [name, *first, *value, *flags, *arguments]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with results, in which no environment can be made."""
    suite = Suite("suite.S", TIME_AND_MEMORY[:2], {"size": (1, 2)})
    plan = small_plan(8, suites=(suite,), machines=("desk",), tag_every=4)
    made: Generated = generate(tmp_path_factory.mktemp("options"), plan)
    body = "    def time_forward(self, size): ...\n    def time_backward(self, size): ...\n"
    files = project_files(
        f"class S:\n    params = [1, 2]\n    param_names = ['size']\n{body}",
        pythons=[f"{sys.version_info.major}.{sys.version_info.minor}"],
        package_dir="src",
        measured_paths=["benchmarks", "src"],
        environment_gib=0.01,
        reference="HEAD~1",
        releases={"numpy": ["2.4.0", "2.3.0"]},
    )
    files["other/asv.conf.jsonc"] = files["asv.conf.json"]
    files["src/package.py"] = ""
    files[".gitignore"] = "results/\nhtml/\n.asv/\n"
    commit(made.repository, files, "Add suites")
    made.results.rename(made.repository / "results")
    return made.repository


@contextlib.contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Work in a folder, with a git that asks nobody and goes nowhere, and no virtualenv."""
    variables = {
        "GIT_ALLOW_PROTOCOL": "file",
        "GIT_TERMINAL_PROMPT": "0",
        "HOME": str(folder),
        "VIRTUALENV_CREATOR": "none",
    }
    # Options such as -E stay in the environment of the process: that of the next test too.
    with contextlib.chdir(folder), mock.patch.dict(os.environ, variables):
        yield


@fuzz
@given(arguments=command_lines())
@example(["bench"])
@example(["nightly"])
@example(["releases", "--machine=/"])
def test_options(
    project: Path, tmp_path_factory: pytest.TempPathFactory, arguments: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("run") / "project"
    shutil.copytree(project, folder, symlinks=True)
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
