"""Cases that time something run in forks of a process that has imported modules."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from asv_watch.records.side_files import FORKED, NOT_FORKED, read_records
from tests.asv_watch.asv.project import Project, suite_files

DECLARED = {"preload": ["engine"], "fork_safe_from": {"engine": "2.7"}}
SUITE = """
import os
import signal
import subprocess
import sys
import time

class Suite:
    params = ["good", "other", "broken", "slow", "shy", "hostile"]
    param_names = ["kind"]
    number, repeat, warmup_time, timeout = 1, 2, 0, 8

    def setup(self, kind):
        if kind == "shy":
            raise NotImplementedError("needs a full moon")
        self.left_behind = subprocess.Popen(["sleep", "100"]).pid if kind == "good" else 0

    def time_it(self, kind):
        if kind == "broken":
            raise RuntimeError("out of cheese")
        if kind == "slow":
            time.sleep(60)
        if kind == "hostile" and "engine" in sys.modules:
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(60)
        self.note("time", kind)

    def peakmem_it(self, kind):
        self.note("peakmem", kind)

    def note(self, what, kind):
        note(what, kind, self.left_behind)


class Cached:
    def setup_cache(self):
        note("setup_cache", "good", 0)
        return 7

    def track_cached(self, cache):
        note("track", "good", 0)
        return cache

    track_cached.may_fork = True


class Uncertain(Cached):
    def setup_cache(self):
        note("setup_cache", "other", 0)
        return 8

    def track_cached(self, cache):
        return cache


def note(what, kind, left_behind):
    forked_from = os.getppid() if "engine" in sys.modules else 0
    with open({notes!r}, "a") as stream:
        print(what, kind, forked_from, left_behind, file=stream)
"""


class Forks(Project):
    """Runs the suite above with a module to preload."""

    def __init__(self, folder: Path, home: Path, notes: Path) -> None:
        super().__init__(folder, home)
        self._notes = notes
        self._modules = home / "modules"
        self._modules.mkdir()

    def run(self, engine: str, *cases: str) -> set[tuple[str, str, int, int]]:
        """Measure cases in two rounds; return what ran, forked from what, and what it left."""
        (self._modules / "engine.py").write_text(f"__version__ = {engine!r}")
        chosen = [word for case in cases for word in ("--bench", case)]
        process = self.start(
            *self.run_arguments(*chosen, rounds=2), ASV_PYTHONPATH=str(self._modules)
        )
        output, _ = process.communicate()
        assert "watch/asv" not in output, output
        assert self._notes.exists(), output
        notes = [line.split() for line in self._notes.read_text().splitlines()]
        return {(what, kind, int(parent), int(left)) for what, kind, parent, left in notes}

    def processes(self) -> str:
        """What the run recorded of how it started cases."""
        records, _ = read_records(self.side_file("environment"))
        return records[-1].environment["processes"]


@pytest.fixture
def project(make_repository: Callable[..., Path], tmp_path: Path) -> Forks:
    notes = tmp_path / "notes"
    return Forks(
        make_repository(suite_files(SUITE.format(notes=str(notes)), **DECLARED)), tmp_path, notes
    )


def test_a_round_is_forked_from_one_process_and_the_next_from_another(project: Forks) -> None:
    ran = project.run("2.15.0+cpu", "time_it", r"peakmem_it\('good'\)", "cached")
    parents = {parent for what, _, parent, _ in ran if what == "time"}
    assert len(parents - {0}) == 2, "one a round"
    for kind in ("good", "other"):
        assert len({parent for what, of, parent, _ in ran if (what, of) == ("time", kind)}) == 2
    assert {parent for what, _, parent, _ in ran if what == "peakmem"} == {0}
    assert 0 in {parent for _, kind, parent, _ in ran if kind == "hostile"}
    of_values = {what: parent for what, kind, parent, _ in ran if kind == "good"}
    assert {of_values["setup_cache"], of_values["track"]} <= parents - {0}
    assert {
        parent for what, kind, parent, _ in ran if (what, kind) == ("setup_cache", "other")
    } == {0}
    assert project.stored("result", "suite.Cached.track_cached") == [7]
    left = [process for *_, process in ran if process]
    assert left
    until = time.monotonic() + 10  # processes without a parent are reaped by another one
    while any(map(psutil.pid_exists, [*parents - {0}, *left])):
        assert time.monotonic() < until
        time.sleep(0.05)

    outcomes = {line["case"]: (line["outcome"], line["reason"]) for line in project.lines()}

    def of(kind: str) -> tuple[str, str]:
        return outcomes[f"suite.Suite.time_it('{kind}')"]

    assert of("good") == of("other") == of("hostile") == ("ok", "")
    assert of("broken")[0] == "failed"
    assert "RuntimeError: out of cheese" in of("broken")[1]
    assert of("slow") == ("timed out", "stopped after 8 s")
    assert of("shy") == ("skipped", "needs a full moon")
    samples = project.stored("samples", "suite.Suite.time_it")
    assert [row and len(row) for row in samples[:2]] == [4, 4]
    assert project.processes() == FORKED


def test_a_release_that_is_slow_in_forks_is_not_forked(project: Forks) -> None:
    ran = project.run("2.6.0", r"time_it\('other'\)")
    assert {parent for _, _, parent, _ in ran} == {0}
    assert project.processes() == NOT_FORKED
