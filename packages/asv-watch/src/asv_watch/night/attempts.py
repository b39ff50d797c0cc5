"""The tasks of nights that failed: ``results/<machine>/attempts.jsonl``, one object a line.

``{"task": ..., "at": <seconds>, "suites": <hash>, "failed": <reason>}``. Failures count while the
suites are the same: other suites may well work.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from asv_watch.records.json_lines import append_lines, read_stored

FILE_NAME = "attempts.jsonl"
NIGHTS = 3
"""A task is set aside after failing on so many nights."""
_SAME_NIGHT_S = 12 * 3600.0
"""A failure within so many seconds after one that counted belongs to the same night."""


class _Attempt(msgspec.Struct):
    task: str
    at: float
    suites: str
    failed: str


@dataclass(frozen=True, slots=True)
class Failures:
    """The nights on which one task failed."""

    nights: int
    counted_at: float
    """When the last failure that counted happened, seconds since the epoch."""
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
        return any(
            name in self.failures and self.failures[name].nights >= NIGHTS for name in names
        )

    def _count(self, attempt: _Attempt) -> None:
        nights, counted_at = 0, -math.inf
        if before := self.failures.get(attempt.task):
            nights, counted_at = before.nights, before.counted_at
        if abs(attempt.at - counted_at) >= _SAME_NIGHT_S:
            nights, counted_at = nights + 1, attempt.at
        self.failures[attempt.task] = Failures(nights, counted_at, attempt.failed)
