"""The tasks of nights that failed: ``results/<machine>/attempts.jsonl``, one object a line.

``{"task": ..., "at": <seconds>, "suites": <hash>, "failed": <reason>}``. Failures count while the
suites are the same: other suites may well work.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from asv_watch.comparison import DAY, Time
from asv_watch.records.json_lines import append_lines, read_stored

FILE_NAME = "attempts.jsonl"
NIGHTS = 3
"""A task is set aside after failing on so many days."""


class _Attempt(msgspec.Struct):
    task: str
    at: Time
    suites: str
    failed: str


class Failures(NamedTuple):
    """When one task failed, and why."""

    days: frozenset[int]
    """Days since the epoch (UTC)."""
    reason: str
    """Reason of the last failure."""


class Attempts:
    """What the nights of one machine tried and failed to do, kept in a file."""

    def __init__(self, machine_results: Path, suites: str, clock: Callable[[], float]) -> None:
        """Read the file, if there is one.

        Args:
            machine_results: folder of the machine's results.
            suites: git's hashes of today's suites and configuration.
            clock: seconds since the epoch.
        """
        self._path = machine_results / FILE_NAME
        self._suites = suites
        self._clock = clock
        self.failures: dict[str, Failures] = {}
        # A line cut off by a crash is left out, which gives one task one more night.
        for attempt in read_stored(self._path, _Attempt, "attempt")[0]:
            if attempt.suites == suites:
                self._count(attempt)

    def add_failure(self, task: str, reason: str) -> None:
        """Store that a task failed."""
        attempt = _Attempt(task, int(self._clock()), self._suites, reason)
        append_lines(self._path, [attempt])
        self._count(attempt)

    def set_aside(self, *names: str) -> bool:
        """Tell whether any of these failed on so many nights that it is not tried again."""
        failed = filter(None, map(self.failures.get, names))
        return any(len(failures.days) >= NIGHTS for failures in failed)

    def _count(self, attempt: _Attempt) -> None:
        before = self.failures.get(attempt.task)
        days = before.days if before else frozenset()
        self.failures[attempt.task] = Failures(days | {attempt.at // DAY}, attempt.failed)
