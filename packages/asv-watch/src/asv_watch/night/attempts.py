"""The tasks of nights that failed: ``results/<machine>/attempts.jsonl``, one object a line.

``{"task": ..., "at": <seconds>, "suites": <hash>, "failed": <reason>}``. Failures count while the
suites are the same: other suites may well work.
"""

from collections.abc import Callable
from pathlib import Path

import msgspec

from asv_watch.comparison import DAY, Time
from asv_watch.records.json_lines import append_lines, read_stored

FILE_NAME = "attempts.jsonl"
NIGHTS = 3
"""A task is set aside after failing on so many days."""


class Attempt(msgspec.Struct):
    """A task that failed."""

    task: str
    at: Time
    suites: str
    failed: str
    """The reason."""


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
        self.failures: dict[str, list[Attempt]] = {}
        """Maps a task to its failures, the last one at the end."""
        # A line cut off by a crash is left out, which gives one task one more night.
        for attempt in read_stored(self._path, Attempt, "attempt")[0]:
            if attempt.suites == suites:
                self.failures.setdefault(attempt.task, []).append(attempt)

    def add_failure(self, task: str, reason: str) -> None:
        """Store that a task failed."""
        attempt = Attempt(task, int(self._clock()), self._suites, reason)
        append_lines(self._path, [attempt])
        self.failures.setdefault(task, []).append(attempt)

    def set_aside(self, *names: str) -> bool:
        """Tell whether any of these failed on so many nights that it is not tried again."""
        days = ({each.at // DAY for each in self.failures.get(name, ())} for name in names)
        return any(len(of_task) >= NIGHTS for of_task in days)
