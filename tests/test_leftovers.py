"""A run of the tests that leaves something behind names it and fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT

CONFTEST = """
from pathlib import Path

from tests import conftest

conftest.ROOT = Path.cwd()
conftest.PATIENCE_S = 0
pytest_configure = conftest.pytest_configure
pytest_sessionfinish = conftest.pytest_sessionfinish
pytest_terminal_summary = conftest.pytest_terminal_summary
pytest_unconfigure = conftest.pytest_unconfigure
"""
TIDY = """
import tempfile
from pathlib import Path

def test_it():
    Path("source.py").touch()
    Path("__pycache__").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="asv-watch-"):
        pass
"""
UNTIDY = """
import tempfile
from pathlib import Path

def test_it():
    Path("sweep.jsonl").touch()
    Path("built").mkdir()
    Path("built", "binary").touch()
    Path.home().joinpath(".asv-machine.json").touch()
    tempfile.mkdtemp(prefix="asv-watch-")
"""


@pytest.fixture
def checkout(make_repository: Callable[[dict[str, str]], Path]) -> Path:
    return make_repository({"conftest.py": CONFTEST, ".gitignore": "built/\n__pycache__/\n"})


def test_what_tests_leave_behind_is_named_and_fails_the_run(
    checkout: Path, tmp_path: Path
) -> None:
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir()
    temporary.mkdir()
    variables = {"HOME": str(home), "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
    inherited = {name: value for name, value in os.environ.items() if "PYTEST" not in name}

    def run(tests: str, *options: str) -> subprocess.CompletedProcess[str]:
        (checkout / "test_it.py").write_text(tests)
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
            cwd=checkout,
            env=inherited | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    assert run(TIDY).returncode == 0
    assert not list(temporary.iterdir()), "a run that passed removes its temporary folder"
    untidy = run(UNTIDY, "--numprocesses=1")
    assert untidy.returncode == 1
    assert "1 passed" in untidy.stdout
    left = re.findall(r"^left behind: (.*)$", untidy.stdout, re.MULTILINE)
    forgotten = list(temporary.glob("torchspeed-tests-*/torchspeed-*"))
    places = [home / ".asv-machine.json", checkout / "built", checkout / "sweep.jsonl", *forgotten]
    assert sorted(map(Path, left)) == sorted(places)
    assert len(forgotten) == 1
