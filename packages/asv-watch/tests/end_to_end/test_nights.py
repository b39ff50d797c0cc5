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

from asv_watch import publish as publishing
from asv_watch.engine import runs as measuring
from asv_watch.errors import ExitStatus
from asv_watch.night import command as job
from asv_watch.night import tasks as night_tasks
from asv_watch.records.store import read_record
from tests.conftest import commit, git
from tests.torchless import BUILD, BUILT, CONFIGURATION
from tests.wheels import write_wheel

BUDGET_H = 3
MOST_NIGHTS = 15
WRONG = {
    "suite.track_hanging": "timed out",
    "suite.track_crashing": "failed",
    "suite.track_huge": "failed",
}
"""Case to its outcome in a commit whose value is wrong."""
SUITE = """
import os
import time

import package

def _value(wrong):
    return wrong() if package.VALUE == "wrong" else int(package.VALUE)

def track_hanging():
    return _value(lambda: time.sleep(600))

def track_crashing():
    return _value(os.abort)

def track_huge():
    return _value(lambda: 10**400)

track_hanging.timeout = 6
"""
PACKAGE = "VALUE = {value!r}\n"
BUILDING = "python -c \"import backend; backend.build_wheel('{build_cache_dir}')\""
"""Builds without pip, which takes a second of CPU time for each commit."""
BROKEN = """
with open("package.py") as package:
    if "broken" in package.read():
        raise SystemExit("this commit cannot be installed")
"""


def _configuration(*releases: str) -> str:
    newest, *older = releases
    conditions = {"OMP_NUM_THREADS": "1"}
    python = CONFIGURATION["pythons"][0]
    matrix: dict[str, Any] = {
        "req": {"torch": [newest]},
        "env_nobuild": {name: [value] for name, value in conditions.items()},
    }
    include = [
        {"python": python, "req": {"torch": release}, "env_nobuild": conditions}
        for release in older
    ]
    return json.dumps(
        BUILT
        | {
            "branches": ["main"],
            "build_command": [BUILDING],
            "matrix": matrix,
            "include": include,
            "measured_paths": ["package.py", "asv.conf.json"],
        }
    )


class Nights:
    """A project and the nights it goes through; measuring a commit takes an hour."""

    def __init__(self, root: Path, releases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self._releases = releases
        self.values = {git(root, "rev-parse", "HEAD"): "100"}
        """Commit of the branch to the value that its cases return, oldest first."""
        self.output = ""
        """What the last night printed."""
        self.published = 0
        self.measured: list[int] = []
        """Tasks of each night."""
        self.reported = 0
        """Values that the nights reported as measured."""
        self._hours = 0  # since the first night
        measure, publish = measuring.measure_commit, publishing.publish

        def measure_for_an_hour(*arguments: Any, **options: Any) -> Any:
            self._hours += 1
            self.measured[-1] += 1
            return measure(*arguments, **options)

        def count_publishing() -> None:
            publish()
            self.published += 1

        monkeypatch.setattr(night_tasks, "measure_commit", measure_for_an_hour)
        monkeypatch.setattr(f"{job.__name__}.publish", count_publishing)
        clock = SimpleNamespace(
            time=lambda: 1.8e9 + self._hours * 3600, monotonic=lambda: self._hours * 3600.0
        )
        monkeypatch.setattr(f"{job.__name__}.time", clock)
        monkeypatch.chdir(root)

    def add_commits(self, *values: str) -> None:
        for value in values:
            files = {"package.py": PACKAGE.format(value=value)}
            name = commit(self.root, files, f"Value {value}")
            self.values[name] = value

    def pin_releases(self, *releases: str, value: str) -> None:
        """Add a commit with another configuration and another value."""
        files = {
            "asv.conf.json": _configuration(*releases),
            "package.py": PACKAGE.format(value=value),
        }
        self.values[commit(self.root, files, f"Value {value}, other releases")] = value

    def drop_newest_commit(self) -> None:
        git(self.root, "reset", "--quiet", "--hard", "HEAD~1")
        self.values.popitem()

    def offer_release(self, release: str) -> None:
        """Put a wheel where pip looks: a torch release is published."""
        self._releases.mkdir(exist_ok=True)
        write_wheel(self._releases, "torch", release, code="")

    def pass_night(self) -> ExitStatus:
        self._hours = 24 * len(self.measured)
        self.measured.append(0)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            status = job.nightly(machine="m", budget=f"{BUDGET_H}h")
        self.output = printed.getvalue()
        self.reported += sum(map(int, re.findall(r"^tonight: .*?(\d+) ok", self.output, re.M)))
        print(f"night {len(self.measured)}: {status!r}\n{self.output}")
        return status

    def stored(self) -> dict[tuple[str, str], dict[str, float | str]]:
        """(Commit, torch release) to the value of each case, or its outcome where it has none."""
        values: dict[tuple[str, str], dict[str, float | str]] = {}
        for measured in read_record(self.root / "results")[0]:
            [version] = measured.sitting.versions
            value = measured.value(0)
            word = measured.outcome(0)[0].value
            of_cases = values.setdefault((version.commit, version.release.version), {})
            of_cases[measured.case] = word if value is None else value
        return values


@pytest.fixture
def nights(
    make_repository: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Nights:
    """A project that pins torch 0.0.1, which pip finds in a folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "releases"))
    root = make_repository(
        {
            "asv.conf.json": _configuration("0.0.1"),
            "benchmarks/__init__.py": "",
            "benchmarks/suite.py": SUITE,
            "package.py": PACKAGE.format(value="100"),
            **BUILD,
            "backend.py": BROKEN + BUILD["backend.py"],
            ".gitignore": ".asv/\nhtml/\nresults/\n",
        }
    )
    nights = Nights(root, tmp_path / "releases", monkeypatch)
    nights.offer_release("0.0.1")
    return nights


@pytest.mark.timeout(1800)
def test_in_the_end_every_commit_is_measured_or_reported(nights: Nights) -> None:
    # 1: more commits than a night has time for; the newest cannot be installed, and the one before
    # it has cases that hang, crash or return no number.
    nights.add_commits("101", "wrong", "broken")
    assert nights.pass_night() is ExitStatus.SOME_CASES_FAILED
    assert "Value broken with torch 0.0.1 failed" in nights.output
    assert "cannot be built and installed" in nights.output
    assert "timed out: did not answer in 6 s" in nights.output
    assert "SIGABRT" in nights.output
    assert "OverflowError" in nights.output
    assert "the time budget is spent" in nights.output
    assert nights.measured[-1] == BUDGET_H
    assert (nights.root / "html/index.html").is_file(), "it publishes what it has"
    # 2: a new commit; the rest is filled in.
    nights.add_commits("102")
    nights.pass_night()
    assert "5 commits and releases: 1 still to be measured, 0 that lack cases" in nights.output
    # 3: the broken commit fails on its third night, and is reported from now on.
    assert nights.pass_night() is ExitStatus.SOME_CASES_FAILED
    assert nights.pass_night() is ExitStatus.DONE, nights.output
    assert "set aside after 3 nights" in nights.output
    assert nights.measured[-1] == 0
    # Two releases are pinned before any index offers them.
    nights.pin_releases("0.0.3", "0.0.2", "0.0.1", value="105")
    assert nights.pass_night() is ExitStatus.SOME_CASES_FAILED
    assert "torch==0.0.3 cannot be installed" in nights.output
    # One of them appears, and the branch is rewritten: its newest commit goes, another comes.
    nights.offer_release("0.0.2")
    nights.drop_newest_commit()
    nights.pin_releases("0.0.3", "0.0.2", "0.0.1", value="106")
    nights.pass_night()
    assert "not on main (any more, if it was rewritten)" in nights.output
    # The rest; the other pins gave the broken commit three new nights.
    while ": 0 still to be measured, 0 that lack cases" not in nights.output:
        assert len(nights.measured) < MOST_NIGHTS
        nights.pass_night()
    assert max(nights.measured) == BUDGET_H
    assert nights.published == len(nights.measured)
    assert "set aside after 3 nights: torch 0.0.3" in nights.output
    _check(nights)


def _check(nights: Nights) -> None:
    stored = nights.stored()
    numbers = [
        value for row in stored.values() for value in row.values() if not isinstance(value, str)
    ]
    assert len(numbers) == nights.reported, "what was reported is stored, and measured once"
    for name, value in nights.values.items():
        for release in ("0.0.1", "0.0.2"):
            if value == "broken":
                assert f"{name[:8]} Value broken with torch {release}" in nights.output
            elif value == "wrong":
                assert stored[name, release] == WRONG
            else:
                assert stored[name, release] == dict.fromkeys(WRONG, float(value))
        assert (name, "0.0.3") not in stored


def test_cases_that_went_do_not_count_below_a_commit_of_documents(nights: Nights) -> None:
    assert nights.pass_night() is ExitStatus.DONE, nights.output
    suite = SUITE.replace("track_huge", "track_large")
    commit(nights.root, {"benchmarks/suite.py": suite}, "Rename a case")
    nights.add_commits("101")
    commit(nights.root, {"README": "A project"}, "Write a page")
    assert nights.pass_night() is ExitStatus.DONE, nights.output
    [newest] = (row for (name, _), row in nights.stored().items() if nights.values[name] == "101")
    assert newest == dict.fromkeys(
        ("suite.track_hanging", "suite.track_crashing", "suite.track_large"), 101.0
    )


FAULTY = """
import sys
from pathlib import Path

fault = Path({fault!r})
if fault.exists():
    sys.exit(fault.read_text())
"""


@pytest.mark.timeout(900)
def test_no_commit_is_set_aside_for_a_fault_of_the_place(nights: Nights, tmp_path: Path) -> None:
    fault = tmp_path / "fault"
    fault.write_text("OSError: [Errno 28] No space left on device")
    backend = FAULTY.format(fault=str(fault)) + BUILD["backend.py"]
    for value in ("7", "8", "9"):
        files = {"package.py": PACKAGE.format(value=value), "backend.py": backend}
        nights.values[commit(nights.root, files, f"Change {value}")] = value
    for _ in range(3):
        assert nights.pass_night() is ExitStatus.SOME_CASES_FAILED
        assert "no commit is to blame: No space left on device; make room" in nights.output
        assert nights.measured[-1] == 2
        assert "the night ends: this machine cannot measure now" in nights.output
    assert "set aside" not in nights.output
    fault.unlink()
    assert nights.pass_night() is ExitStatus.DONE, nights.output
    assert len(nights.stored()) == 3
