"""The tasks of nights that failed: ``results/<machine>/attempts.jsonl``, one object a line.

Two kinds of line: ``{"night": <seconds>, "head": <hash>}`` where a night begins and the newest
commit is another one than before, and ``{"task": ..., "at": <seconds>, "suites": <hash>,
"failed": <reason>}`` for each task that failed. Failures count while the suites are the same:
other suites may well work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from asv_watch.records.json_lines import append_lines, read_lines

FILE_NAME = "attempts.jsonl"
NIGHTS = 3
"""Nights on which a task may fail before it is set aside."""
_SAME_NIGHT_S = 12 * 3600.0
"""A failure so soon after one that counted belongs to the same night."""


class _Line(msgspec.Struct):
    head: str = ""
    task: str = ""
    at: float = 0.0
    suites: str = ""
    failed: str = ""


_LINE = msgspec.json.Decoder(_Line)


@dataclass(frozen=True, slots=True)
class Failures:
    """The nights on which one task failed."""

    nights: int
    counted_at: float
    """When the last failure that counted happened, seconds since the epoch."""
    reason: str
    """Reason of the last failure."""

    @property
    def set_aside(self) -> bool:
        """Whether the task is not tried again."""
        return self.nights >= NIGHTS


class Attempts:
    """The nights of one machine."""

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
        self.last_head = ""
        """Newest commit of the branch on the last night; empty before the first."""
        self.failures: dict[str, Failures] = {}
        # A line that was cut off by a crash is left out: one night more for one task.
        lines = read_lines(self._path, _LINE.decode, "attempt")[0] if self._path.exists() else []
        for _, line in lines:
            self.last_head = line.head or self.last_head
            if line.task and line.suites == suites:
                self._count(line.task, line.failed, line.at)

    def begin_night(self, head: str) -> None:
        """Store that a night begins, if the branch has moved since the last."""
        if head == self.last_head:
            return
        self.last_head = head
        append_lines(self._path, [{"night": int(self._clock()), "head": head}])

    def add_failure(self, task: str, reason: str) -> None:
        """Store that a task failed."""
        at = int(self._clock())
        line = {"task": task, "at": at, "suites": self._suites, "failed": reason}
        append_lines(self._path, [line])
        self._count(task, reason, at)

    def _count(self, task: str, reason: str, at: float) -> None:
        before = self.failures.get(task)
        if before is None:
            self.failures[task] = Failures(1, at, reason)
        elif abs(at - before.counted_at) < _SAME_NIGHT_S:
            self.failures[task] = Failures(before.nights, before.counted_at, reason)
        else:
            self.failures[task] = Failures(before.nights + 1, at, reason)
