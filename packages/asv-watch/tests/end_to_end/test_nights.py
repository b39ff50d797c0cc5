"""Nights on a small project, with real asv: failures and the clock are injected."""

import contextlib
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from asv_watch.engine import runs as measuring
from asv_watch.errors import ExitStatus
from asv_watch.night import command as job
from asv_watch.night import tasks as night_tasks
from asv_watch.records.store import read_record
from tests.conftest import commit, git
from tests.torchless import BUILD, BUILT, CONFIGURATION, project_files
from tests.wheels import write_wheel

BUDGET_H = 3
SUITE = """
import os

import package

def track_it():
    return os.abort() if package.VALUE == "wrong" else int(package.VALUE)
"""
BUILDING = "python -c \"import backend; backend.build_wheel('{build_cache_dir}')\""
"""Builds without pip, which takes a second of CPU time for each commit."""
BROKEN = """
import os, sys

if os.path.exists(os.path.expanduser("~/full")):
    sys.exit("OSError: [Errno 28] No space left on device")
with open("package.py") as package:
    if "broken" in package.read():
        sys.exit("this commit cannot be installed")
"""


def _configuration(*releases: str) -> str:
    """Settings with releases of torch, the newest first."""
    recipe = {"python": CONFIGURATION["pythons"][0], "env_nobuild": {"OMP_NUM_THREADS": "1"}}
    settings = {
        "branches": ["main"],
        "build_command": [BUILDING],
        "matrix": {"req": {"torch": [releases[0]]}, **CONFIGURATION["matrix"]},
        "include": [recipe | {"req": {"torch": older}} for older in releases[1:]],
        "measured_paths": ["package.py", "asv.conf.json"],
    }
    return json.dumps(BUILT | settings)


class Nights:
    """A project and the nights it goes through; measuring a commit takes an hour."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.values = {git(root, "rev-parse", "HEAD"): "100"}
        """Commit of the branch to the value that its cases return, oldest first."""
        self.printed: list[str] = []
        """What each night printed."""
        self.measured: list[int] = []
        """Tasks of each night."""
        self._hours = 0  # since the first night
        measure = measuring.measure_commit

        def measure_for_an_hour(*arguments: Any, **options: Any) -> Any:
            self._hours += 1
            self.measured[-1] += 1
            return measure(*arguments, **options)

        monkeypatch.setattr(night_tasks, "measure_commit", measure_for_an_hour)
        clock = SimpleNamespace(
            time=lambda: 1.8e9 + self._hours * 3600, monotonic=lambda: self._hours * 3600.0
        )
        monkeypatch.setattr(f"{job.__name__}.time", clock)
        monkeypatch.chdir(root)

    def add_commit(self, value: str, **files: str) -> None:
        files = {"package.py": f"VALUE = {value!r}\n"} | files
        self.values[commit(self.root, files, f"Value {value}")] = value

    def pass_night(self) -> ExitStatus:
        self._hours = 24 * len(self.measured)
        self.measured.append(0)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            status = job.nightly(machine="m", budget=f"{BUDGET_H}h")
        self.printed.append(printed.getvalue())
        print(f"night {len(self.measured)}: {status!r}\n{self.printed[-1]}")
        return status

    def stored(self) -> dict[tuple[str, str], float | str]:
        """Commit and case to the value, or the outcome where there is none."""
        values: dict[tuple[str, str], float | str] = {}
        for measured in read_record(self.root / "results")[0]:
            value = measured.value(0)
            outcome = measured.outcome(0)[0].value
            key = measured.sitting.versions[0].commit, measured.case.removeprefix("suite.")
            values[key] = outcome if value is None else value
        return values


@pytest.fixture
def nights(
    make_repository: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Nights:
    """A project that pins torch 0.0.1, which pip finds in a folder."""
    releases = tmp_path / "releases"
    releases.mkdir()
    write_wheel(releases, "torch", "0.0.1", code="")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PIP_FIND_LINKS", str(releases))
    files = {"asv.conf.json": _configuration("0.0.1"), "package.py": "VALUE = '100'\n"}
    files |= BUILD | {"backend.py": BROKEN + BUILD["backend.py"]}
    return Nights(make_repository(project_files(SUITE, files)), monkeypatch)


@pytest.mark.timeout(1800)
def test_in_the_end_every_commit_is_measured_or_reported(nights: Nights, tmp_path: Path) -> None:
    for value in ("101", "wrong", "broken"):
        nights.add_commit(value)
    # A night on a full disk counts for no commit.
    (tmp_path / "full").touch()
    assert nights.pass_night() is ExitStatus.SOME_CASES_FAILED
    assert "no commit is to blame: No space left on device;" in nights.printed[-1]
    assert nights.measured[-1] == 2
    assert "the night ends: this machine cannot measure now" in nights.printed[-1]
    # 1: more commits than a night has time for; the newest cannot be installed, the one before it
    # crashes.
    (tmp_path / "full").unlink()
    assert nights.pass_night() is ExitStatus.SOME_CASES_FAILED
    printed = nights.printed[-1]
    assert "Value broken with torch 0.0.1 failed" in printed
    assert "cannot be built and installed" in printed
    assert "SIGABRT" in printed
    assert "the time budget is spent" in printed
    assert nights.measured[-1] == BUDGET_H
    assert (nights.root / "html/index.html").is_file(), "it publishes what it has"
    # 2: a new commit; the rest is filled in.
    nights.add_commit("102")
    nights.pass_night()
    assert "5 commits and releases: 1 still to be measured, 0 that" in nights.printed[-1]
    # 3: the broken commit fails on its third night, and is reported from now on.
    assert nights.pass_night() is ExitStatus.SOME_CASES_FAILED
    assert nights.pass_night() is ExitStatus.DONE
    assert "set aside after 3 nights" in nights.printed[-1]
    assert nights.measured[-1] == 0
    # The branch is rewritten: its newest commit goes, and another pins a release that no index
    # offers. Other pins give the broken commit three new nights.
    git(nights.root, "reset", "--quiet", "--hard", "HEAD~1")
    nights.values.popitem()
    nights.add_commit("103", **{"asv.conf.json": _configuration("0.0.2", "0.0.1")})
    assert nights.pass_night() is ExitStatus.SOME_CASES_FAILED
    assert "torch==0.0.2 cannot be installed" in nights.printed[-1]
    assert "not on main (any more, if it was rewritten)" in nights.printed[-1]
    while ": 0 still to be measured, 0 that lack cases" not in nights.printed[-1]:
        assert len(nights.measured) < 12
        nights.pass_night()
    assert max(nights.measured) == BUDGET_H
    assert "set aside after 3 nights: torch 0.0.2" in nights.printed[-1]
    stored = nights.stored()
    numbers = sum(isinstance(value, float) for value in stored.values())
    reported = re.findall(r"^tonight: .*?(\d+) ok", "".join(nights.printed), re.MULTILINE)
    assert numbers == sum(map(int, reported)), "what was reported is stored, measured once"
    for name, value in nights.values.items():
        if value == "broken":
            assert f"{name[:8]} Value broken with torch 0.0.1" in nights.printed[-1]
        else:
            assert stored[name, "track_it"] == ("failed" if value == "wrong" else float(value))


def test_cases_that_went_do_not_count_below_a_commit_of_documents(nights: Nights) -> None:
    assert nights.pass_night() is ExitStatus.DONE
    suite = SUITE.replace("track_it", "track_that")
    commit(nights.root, {"benchmarks/suite.py": suite}, "Rename a case")
    nights.add_commit("101")
    commit(nights.root, {"README": "A project"}, "Write a page")
    assert nights.pass_night() is ExitStatus.DONE
    assert nights.stored()[list(nights.values)[-1], "track_that"] == 101.0
