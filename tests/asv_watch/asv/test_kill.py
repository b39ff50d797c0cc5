"""A run that is struck at random moments loses nothing that it reported as done."""

from __future__ import annotations

import json
import math
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.asv_watch.asv.project import Project, suite_files

STRIKES = 12
CASES, ROUNDS, SAMPLES = 40, 2, 3
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

SUITE = f"""
import random

class Clock:
    now = 0.0

    @classmethod
    def read(cls):
        return cls.now

class Suite:
    params = list(range({CASES}))
    param_names = ["case"]
    number, repeat, warmup_time = 1, {SAMPLES}, 0
    timer = Clock.read

    def time_it(self, case):
        Clock.now += case + random.uniform(0.1, 0.9)
"""
"""Each sample tells its case by its whole seconds, and no other sample is the same."""


class Run:
    """A resumed ``asv run`` of the project, and what it reports as done."""

    def __init__(self, project: Project, progress: Path) -> None:
        self._folder = str(project.folder)
        self._progress = progress
        self._messages_before = len(self.messages())
        self.process = project.start(
            *project.run_arguments(rounds=ROUNDS),
            ASV_WATCH_RESUME="missing",
            ASV_WATCH_PROGRESS=str(progress),
            TMPDIR=str(progress.parent),
        )

    def has_plan(self) -> bool:
        return len(self.messages()) > self._messages_before

    def messages(self) -> list[dict[str, Any]]:
        """What all runs so far reported; a line that is being written is left out."""
        if not self._progress.exists():
            return []
        whole, _, _ = self._progress.read_text().rpartition("\n")
        return [json.loads(line) for line in whole.splitlines()]

    def reported(self) -> Counter[str]:
        """Case to the number of its rounds that were reported as done."""
        return Counter(message["ran"]["case"] for message in self.messages() if "ran" in message)

    def strike(self, number: signal.Signals) -> None:
        """Signal asv alone, and wait for the end of everything that it started."""
        self.process.send_signal(number)
        deadline = time.monotonic() + 5
        while self._remaining() or self.process.poll() is None:
            assert time.monotonic() < deadline, f"{self._remaining()} outlived {number.name}"
            time.sleep(0.1)

    def _remaining(self) -> list[str]:
        """Command lines of measured processes that still run."""
        lines = []
        for process in psutil.process_iter(["cmdline", "status"]):
            line = " ".join(process.info["cmdline"] or ())
            if self._folder in line and process.info["status"] != psutil.STATUS_ZOMBIE:
                lines.append(line)
        return lines


def _stored_samples(project: Project) -> list[list[float]]:
    if not project.results.exists() or not list(project.results.glob("*-*.json")):
        return [[]] * CASES
    samples = project.stored("samples", "suite.Suite.time_it") or [None] * CASES
    return [of_case or [] for of_case in samples]


@pytest.mark.timeout(1800)
@pytest.mark.fault(
    "kill",
    tried="a run is ended twelve times at random by SIGKILL, SIGTERM, SIGINT and SIGHUP",
    holds="nothing that was reported is lost, measured twice or left running",
)
def test_strikes_at_random_moments_lose_nothing(
    make_repository: Callable[..., Path], tmp_path: Path
) -> None:
    project = Project(make_repository(suite_files(SUITE)), tmp_path)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    progress = temporary / "progress"
    names = [f"suite.Suite.time_it({case})" for case in range(CASES)]
    moments = random.Random(12)  # noqa: S311 - a test repeats itself
    before: list[list[float]] = [[]] * CASES
    for strike in range(STRIKES):
        run = Run(project, progress)
        if strike % 4:  # otherwise it may be struck before it measures anything
            while not run.has_plan() and run.process.poll() is None:
                time.sleep(0.02)
        time.sleep(moments.uniform(0, 0.8))
        run.strike(SIGNALS[strike % len(SIGNALS)])
        reported = run.reported()
        stored = _stored_samples(project)
        for case, (name, samples) in enumerate(zip(names, stored, strict=True)):
            assert len(samples) >= SAMPLES * reported[name], f"{name} was reported and is lost"
            assert len(samples) % SAMPLES == 0, "a part of a round is stored"
            assert [int(sample) for sample in samples] == [case] * len(samples), "of another case"
            assert samples[: len(before[case])] == before[case], f"{name} was stored differently"
            before[case] = samples[: SAMPLES * reported[name]]
        deadline = time.monotonic() + 5  # the guard of a killed run may still be starting
        while left := {path.name for path in temporary.iterdir()} - {"progress"}:
            assert time.monotonic() < deadline, f"temporary files: {left}"
            time.sleep(0.05)
    last = Run(project, progress)
    output, _ = last.process.communicate()
    assert last.process.returncode == 0, output

    values = project.stored("result", "suite.Suite.time_it")
    assert all(map(math.isfinite, values))
    stored = _stored_samples(project)
    assert [list(map(int, of_case)) for of_case in stored] == [
        [case] * SAMPLES * ROUNDS for case in range(CASES)
    ]
    lines = project.lines()
    rounds = {name: [line for line in lines if line["case"] == name] for name in names}
    for name, of_case in rounds.items():
        assert [line.get("rounds_left", 0) for line in of_case] == [1, 0], f"{name} ran again"
        assert [line["samples"] for line in of_case] == [SAMPLES] * ROUNDS
    assert max(last.reported().values()) <= ROUNDS
