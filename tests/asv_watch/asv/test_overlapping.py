"""Cases whose values depend on no clock are measured at the same time, those that time alone."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from asv_watch.asv.overlapping import cases_at_once
from tests.asv_watch.asv.project import Project, suite_files

SUITE = """
import time
from pathlib import Path

NOTES = Path({notes!r})

def note(*words):
    with NOTES.open("a") as stream:
        print(*words, file=stream)

class Suite:
    params = ["first", "second", "hungry", "broken", "slow", "shy", "last"]
    param_names = ["kind"]
    number, repeat, warmup_time, timeout = 1, 1, 0, 8

    def setup(self, kind):
        if kind == "shy":
            raise NotImplementedError("needs a full moon")

    def peakmem_it(self, kind):
        note("begin", kind)
        if kind == "first":  # only the next case can end it in time
            while "begin second" not in NOTES.read_text():
                time.sleep(0.01)
        if kind == "hungry":
            self.ballast = b"x" * (700 * 1024**2)
            time.sleep(1.5)  # memory is looked at once a second
        if kind == "broken":
            raise RuntimeError("out of cheese")
        if kind == "slow":
            note("end", kind)
            time.sleep(60)
        note("end", kind)

    def time_it(self, kind):
        note("begin timed")
        note("end timed")

class Endless:
    params = list(range(4))

    def peakmem_endless(self, number):
        note("begin", number)
        if number:
            time.sleep(60)
"""

RUNS_ON = """
import os
import signal
import asv.main

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
os.sched_getaffinity = lambda _: set(range({cores}))
asv.main.main()
"""


class Overlaps(Project):
    """Runs the suite above as on a machine with so many cores."""

    def __init__(self, folder: Path, home: Path) -> None:
        super().__init__(folder, home)
        self._notes = home / "notes"

    def notes(self) -> list[str]:
        return self._notes.read_text().splitlines() if self._notes.exists() else []

    def measure(self, cores: int, *cases: str) -> None:
        """Measure cases."""
        chosen = [word for case in cases for word in ("--bench", case)]
        self.start(
            *self.run_arguments(*chosen),
            asv=("-c", RUNS_ON.format(cores=cores)),
            ASV_WATCH_MEMORY_LIMIT_GIB="1",
        ).communicate()


@pytest.fixture
def project(make_repository: Callable[..., Path], tmp_path: Path) -> Overlaps:
    suite = SUITE.format(notes=str(tmp_path / "notes"))
    declared = {"suite": {"may_overlap": True}}
    return Overlaps(make_repository(suite_files(suite, suites=declared)), tmp_path)


def test_two_cores_measure_two_cases_and_each_has_its_own_outcome(project: Overlaps) -> None:
    project.measure(2, "_it")
    outcomes = {line["case"]: (line["outcome"], line["reason"]) for line in project.lines()}

    def of(kind: str) -> tuple[str, str]:
        return outcomes[f"suite.Suite.peakmem_it('{kind}')"]

    assert of("first") == of("second") == of("hungry") == of("last") == ("ok", "")
    assert of("broken")[0] == "failed"
    assert "RuntimeError: out of cheese" in of("broken")[1]
    assert of("slow") == ("timed out", "stopped after 8 s")
    assert of("shy") == ("skipped", "needs a full moon")
    first, second, hungry, *others, last = project.stored("result", "suite.Suite.peakmem_it")
    assert max(first, second, last) < 500 * 1024**2 < 700 * 1024**2 < hungry
    assert [value is None for value in others] == [True, True, False]
    notes = project.notes()
    assert notes.count("begin hungry") == 2, "half of the memory is too little for it"
    again = len(notes) - notes[::-1].index("begin hungry") - 1
    assert notes[again + 1] == "end hungry", "the second time it runs alone"
    timed = [place for place, line in enumerate(notes) if line == "begin timed"]
    assert timed
    assert all(notes[place + 1] == "end timed" for place in timed)


def test_an_interrupt_ends_what_was_started_ahead_and_keeps_what_is_done(
    project: Overlaps,
) -> None:
    process = project.start(
        *project.run_arguments("--bench", "endless"), asv=("-c", RUNS_ON.format(cores=2))
    )
    until = time.monotonic() + 20
    while len(project.notes()) < 3:
        assert time.monotonic() < until
        time.sleep(0.02)
    started = psutil.Process(process.pid).children(recursive=True)
    assert len(started) >= 2
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=10)
    assert process.returncode == 128 + signal.SIGTERM
    _, running = psutil.wait_procs(started, timeout=5)
    assert not running
    assert [(line["case"], line["outcome"]) for line in project.lines()] == [
        ("suite.Endless.peakmem_endless(0)", "ok")
    ]


def test_a_run_that_asv_binds_to_a_core_measures_one_case_at_a_time() -> None:
    assert cases_at_once({"extra_params": {"cpu_affinity": [1]}}) == 1
    assert cases_at_once({"extra_params": {"cpu_affinity": [0, 1]}}) == 2
