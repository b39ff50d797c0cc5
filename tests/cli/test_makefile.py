"""Real make: variables arrive as they were typed, and an interrupted setup is repaired."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT, program, run

HOSTILE = "-x; touch x $(shell touch x) $$(touch x) `touch x` a$|b '\"\\ #*"
BACKEND = """
import zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    with zipfile.ZipFile(f"{folder}/p-0-py3-none-any.whl", "w") as wheel:
        about = "Metadata-Version: 2.1\\nName: p\\nVersion: 0\\nProvides-Extra: watch\\n"
        wheel.writestr("p-0.dist-info/METADATA", about)
        kind = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
        wheel.writestr("p-0.dist-info/WHEEL", kind)
        wheel.writestr("p-0.dist-info/RECORD", "")
    return "p-0-py3-none-any.whl"
"""
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile beside an environment that is complete as far as make can see."""
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT / ".ci", folder / ".ci")
    shutil.copy(ROOT / "Makefile", folder)
    watcher = folder / "packages" / "asv-watch"
    watcher.mkdir(parents=True)
    for project in (folder, watcher):
        (project / "pyproject.toml").write_text(PROJECT)
        (project / "backend.py").write_text(BACKEND)
    return folder


def _show_arguments(checkout: Path) -> None:
    """Put a program that prints its arguments in place of Python."""
    python = checkout / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    program(python, 'printf "%s\\n" "$@"')
    (checkout / ".venv/.watch").touch()


def _make(
    checkout: Path, *arguments: str, status: int = 0, **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return run("make", *arguments, cwd=checkout, env=environment | variables, status=status)


@pytest.mark.parametrize("from_environment", [False, True])
def test_a_variable_arrives_as_it_was_typed(checkout: Path, from_environment: bool) -> None:
    _show_arguments(checkout)
    if from_environment:
        done = _make(checkout, "bench", CASES=HOSTILE)
    else:
        done = _make(checkout, "bench", f"CASES={HOSTILE}")
    assert f"--cases={HOSTILE}" in done.stdout.splitlines()
    assert not (checkout / "x").exists()


def test_a_variable_that_is_not_given_is_no_option(checkout: Path) -> None:
    _show_arguments(checkout)
    assert _make(checkout, "compare").stdout.splitlines() == ["-m", "asv_watch.cli", "compare"]
    strict = _make(checkout, "compare", "STRICT=$(shell touch x)").stdout.splitlines()
    assert strict[3:] == ["--fail-if-slower"]
    assert not (checkout / "x").exists()


@pytest.mark.parametrize("python", ["/nowhere/python; touch x", "$(shell touch x)"])
def test_a_python_that_is_none_is_refused_and_not_run(checkout: Path, python: str) -> None:
    done = _make(checkout, "setup", f"PYTHON={python}", status=2)
    assert done.stderr.startswith(f"torchspeed: {python} does not run")
    assert not (checkout / "x").exists()


def test_an_interrupted_setup_is_repaired(checkout: Path) -> None:
    command = ["make", "setup", f"PYTHON={sys.executable}"]
    first = subprocess.Popen(command, cwd=checkout, start_new_session=True)
    until = time.monotonic() + 60
    while not (checkout / ".venv/bin/python").exists():
        assert time.monotonic() < until
        assert first.poll() is None, "the setup ended before it could be interrupted"
        time.sleep(0.002)
    os.killpg(first.pid, signal.SIGINT)
    assert first.wait() != 0
    assert not (checkout / ".venv/.watch").exists()
    run(*command, cwd=checkout)
    pip = ".venv/bin/python", "-m", "pip", "show", "p"
    assert "Name: p" in run(*pip, cwd=checkout).stdout


SETUP = "/bin/sh", ".ci/venv", ".venv", "watch"


@pytest.mark.parametrize(
    ("python", "named"),
    [("", "no python3.11, python3.12, python3.13 or python3.14"), ("/bin/false", "/bin/false")],
)
def test_python_for_the_host_that_is_not_here(checkout: Path, python: str, named: str) -> None:
    environment = {"PYTHON": python, "PATH": str(checkout)}
    done = run(*SETUP, cwd=checkout, env=environment, status=1)
    assert done.stderr.count("\n") == 1
    assert named in done.stderr
    assert "make PYTHON=" in done.stderr


def test_a_python_that_does_not_run_is_passed_over(checkout: Path, tmp_path: Path) -> None:
    for version, code in (("3.11", "exit 127"), ("3.12", '[ "$1" = -c ]')):  # it makes no .venv
        program(tmp_path / f"python{version}", code)
    path = f"{tmp_path}:{os.defpath}"
    done = run(*SETUP, cwd=checkout, env={"PATH": path}, status=1)
    assert f"{tmp_path / 'python3.12'} cannot make a virtual environment" in done.stderr
