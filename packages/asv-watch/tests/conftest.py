"""What tests of several areas share."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.leftovers import wait_until

pytest_plugins = ["tests.torchless"]
ROOT = Path(__file__).resolve().parent.parent
REPOSITORY = ROOT.parent.parent
"""The checkout, which holds the action and the workflows of the gate, and .gitattributes."""

settings.register_profile(
    "this project",
    # A run fails for a change, not by chance: examples are derived from the test itself, so each
    # run tries the same.
    derandomize="FUZZ_EXAMPLES" not in os.environ,
    # A busy machine is no error: times that matter are measured as CPU time, where they matter.
    deadline=None,
    # All examples of a test share its fixtures, so a test must not depend on a fresh one for each.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("this project")

SHARING = ("tests/browser", "tests/site")
"""Folders whose tests share what is expensive: a browser, published sites."""

LONGEST = ("browser", "end_to_end", "test_lint.py", "site", "releases", "engine", "night")
"""What takes longest starts first, so that no worker is left with one test at the end."""

TEMPORARY = pytest.StashKey[str]()
"""Folder of everything temporary of a run, of its tests and of what they start."""
PATIENCE_S = 10.0
"""Seconds for guards of killed runs to clean up after the last test."""


def pytest_configure(config: pytest.Config) -> None:
    """Let signals reach what tests start, and give all of it one temporary folder."""
    if renamed := [group for group in LONGEST if not (ROOT / "tests" / group).exists()]:
        raise pytest.UsageError(f"LONGEST of tests/conftest.py names {renamed[0]}; correct it")
    _accept_signals()
    # An environment of a test is used many times: what is imported there is compiled once.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.pop("PYTHONUNBUFFERED", None)  # it changes when output is written; few users set it
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.stash[TEMPORARY] = tempfile.mkdtemp(prefix="asv-watch-tests-")
        os.environ["TMPDIR"] = config.stash[TEMPORARY]
        tempfile.tempdir = None  # it is asked for again
        # Otherwise virtualenv unpacks a pip for each home folder, and downloads another: 5 s.
        os.environ["VIRTUALENV_OVERRIDE_APP_DATA"] = f"{config.stash[TEMPORARY]}/virtualenv"
        os.environ["VIRTUALENV_NO_PERIODIC_UPDATE"] = "1"
        os.environ["VIRTUALENV_SYMLINK_APP_DATA"] = "1"  # pip is compiled once, not for each: 1 s


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that leaves something behind; keep the temporary folder of a run that failed."""
    stash = session.config.stash
    if TEMPORARY in stash:  # a worker leaves that to the process that started it
        folder = Path(stash[TEMPORARY])
        wait_until(lambda: not [*folder.glob("asv-watch-*")], PATIENCE_S)
        for left in sorted(folder.glob("asv-watch-*")):
            session.config.get_terminal_writer().line(f"\nleft behind: {left}", red=True)
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
    if session.exitstatus != pytest.ExitCode.OK:
        stash[TEMPORARY] = ""


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the temporary folder, with what killed processes left there."""
    folder = config.stash.get(TEMPORARY, "")
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


def _accept_signals() -> None:
    """Handle the signals that this process would ignore.

    A shell's background job ignores interrupts, `nohup` hang-ups, and children inherit that. A
    handler, unlike that, is not inherited: children get the default action back.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


@pytest.hookimpl(wrapper=True)  # its first half runs before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Keep the tests of a file, and those of a folder in `SHARING`, in one worker of xdist."""
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item)))
    items.sort(key=_turn)
    yield


def _group(item: pytest.Item) -> str:
    path = item.path.relative_to(ROOT).as_posix()
    return next((folder for folder in SHARING if path.startswith(f"{folder}/")), path)


def _turn(item: pytest.Item) -> int:
    group = _group(item).removeprefix("tests/")
    longest = (index for index, name in enumerate(LONGEST) if group.startswith(name))
    return next(longest, len(LONGEST))


@pytest.fixture
def make_repository(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Makes real git repositories: file name to text, committed on ``main``."""

    def make(files: dict[str, str]) -> Path:
        folder = tmp_path / "repository"
        git(tmp_path, "init", "--quiet", "--initial-branch=main", folder.name)
        (folder / ".git/info/exclude").write_text("__pycache__/\n")  # `commit` adds all there is
        commit(folder, files, "Begin")
        return folder

    return make


def run(
    *command: str | Path, status: int | None = 0, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command that has to end with a status, or with any where that is ``None``.

    Options are those of `subprocess.run`, such as ``cwd``.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert status in (None, done.returncode), done.stdout + done.stderr
    return done


def git(folder: Path, *arguments: str, **options: Any) -> str:
    """Run git as a person without any configuration of their own."""
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    return run("git", *identity, *arguments, cwd=folder, **options).stdout.strip()


def commit(folder: Path, files: dict[str, str], message: str) -> str:
    """Write files, commit everything, return the commit's hash."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def write_program(path: Path, text: str) -> None:
    """Write a file that can be run, in a folder that may have to be made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
