"""What tests of several areas share."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from torchspeed.errors import TorchspeedError

ROOT = Path(__file__).resolve().parent.parent

settings.register_profile(
    "this project",
    # A run fails for a change, not by chance: examples are derived from the test itself, so each
    # run tries the same.
    derandomize=True,
    # A busy machine is no error: times that matter are measured as CPU time, where they matter.
    deadline=None,
    # All examples of a test share its fixtures, so a test must not depend on a fresh one for each.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("this project")

LONGEST = ("end_to_end", "test_lint.py", "studies", "own_results", "measure", "docs", "training")
"""What takes longest starts first, so that no worker is left with one test at the end."""


def pytest_configure() -> None:
    """Let Ctrl-C reach what tests start, and give them the environment that they rely on."""
    if renamed := [group for group in LONGEST if not (ROOT / "tests" / group).exists()]:
        raise pytest.UsageError(f"LONGEST of tests/conftest.py names {renamed[0]}; correct it")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job inherits that
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # An environment of a test is used many times: what is imported there is compiled once.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Sizes in tests are too small for two threads, and other tests keep the other cores busy.
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ.pop("COLUMNS", None)  # tables are as wide as in a file


@pytest.fixture(scope="session", autouse=True)
def _temporary(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Put all that tests and their programs leave where pytest removes it if nothing failed."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # all workers share what torch compiles
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None  # it is asked for again


def _lacks(program: str) -> bool:
    if program == "CUDA":
        return not sys.modules["torch"].cuda.is_available()  # imported by the test
    header = Path(sysconfig.get_path("include"), "Python.h")
    return not shutil.which(program) or (program == "g++" and not header.is_file())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a program that is missing, and put first what takes longest."""
    for item in items:
        for marker in item.iter_markers("needs"):
            if _lacks(*marker.args):
                item.add_marker(pytest.mark.skip(reason=f"needs {marker.args[0]}"))
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    file = item.path.relative_to(ROOT / "tests").as_posix()
    longest = (index for index, name in enumerate(LONGEST) if file.startswith(name))
    return next(longest, len(LONGEST))


def run(
    *command: str | Path, status: int | None = 0, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command that has to end with a status, or with any where that is ``None``.

    Options are those of `subprocess.run`, such as ``cwd``.
    """
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    done = subprocess.run(command, text=True, check=False, **(pipes | options))
    assert status in (None, done.returncode), f"{done.stdout}{done.stderr}"
    return done


@contextmanager
def refused(message: str) -> Iterator[None]:
    """Expect a `TorchspeedError` of one line, in which a pattern is found."""
    with pytest.raises(TorchspeedError, match=message) as caught:
        yield
    assert "\n" not in str(caught.value)


def program(path: Path, script: str) -> None:
    """Write a program of the shell."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def git(folder: Path, *arguments: str, **options: Any) -> str:
    """Run git as a person without any configuration of their own."""
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    return run("git", *identity, *arguments, cwd=folder, **options).stdout.strip()


def make_repository(folder: Path, files: Mapping[str, str]) -> None:
    """Make a repository with one commit on ``main``: file name to text."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Begin")
