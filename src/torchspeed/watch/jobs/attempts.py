"""What the nights tried in vain: ``results/<machine>/attempts.jsonl``, an object a line.

Two kinds of line: ``{"night": <seconds>, "head": <hash>}`` where a night begins, and
``{"task": ..., "at": <seconds>, "suites": <hash>, "failed": <reason>}`` for each task of it that
failed. Failures count while the suites are the same: other suites may well work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torchspeed.watch.history.json_lines import append_lines, read_lines, seconds

FILE_NAME = "attempts.jsonl"
NIGHTS = 3
"""Nights on which a task may fail before it is set aside."""
_SAME_NIGHT_S = 12 * 3600.0
"""A failure so soon after one that counted belongs to the same night."""


@dataclass(frozen=True, slots=True)
class Failures:
    """The nights on which one task failed."""

    nights: int
    counted_at: float
    """When the last failure that counted happened, seconds since the epoch."""
    reason: str
    """Of the last failure."""

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
        for _, line in read_lines(self._path)[0] if self._path.exists() else ():
            if not isinstance(line, dict):
                continue  # cut off by a crash: one night more for one task
            self.last_head = str(line.get("head", self.last_head))
            if "task" in line and line.get("suites") == suites:
                at = seconds(line.get("at")) or 0
                self._count(str(line["task"]), str(line.get("failed", "")), at)

    def begin_night(self, head: str) -> None:
        """Store that a night begins.

        Args:
            head: newest commit of the branch.
        """
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
        elif at - before.counted_at < _SAME_NIGHT_S:
            self.failures[task] = Failures(before.nights, before.counted_at, reason)
        else:
            self.failures[task] = Failures(before.nights + 1, at, reason)
