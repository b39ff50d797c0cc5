"""How far a run is, and how long it still takes."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any, TextIO


def human_time(seconds: float) -> str:
    """Write a duration as a person says it: ``40 s``, ``3 min 20 s``, ``1 h 05 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


class Progress:
    """Prints a line a case, with the time left of the whole run."""

    def __init__(
        self, remembered: Mapping[str, float], stream: TextIO | None = None, again: int = 0
    ) -> None:
        """Begin.

        Args:
            remembered: seconds a round of each case.
            stream: where to print; standard output by default.
            again: how many times the same cases will run once more after the first plan is
                through, in plans that asv tells here or in runs of their own.
        """
        self._expected = dict(remembered)
        self._again = again
        self._plan: dict[str, int] = {}
        self._left: dict[str, int] = {}
        self._total = 0
        self._done = 0
        self._ran = 0
        self._took = 0.0
        self._stream = stream or sys.stdout
        self._live = self._stream.isatty()
        self._started = time.monotonic()
        self.outcomes: dict[str, tuple[str, str]] = {}
        """Case to its outcome and reason, of this run."""

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take one message of the running asv: its plan, or a case that ran."""
        if "plan" in message:
            if self._plan:
                self._again -= 1
                self._done = 0
            self._plan = dict(message["plan"])
            self._left = dict(self._plan)
            self._total = sum(self._left.values())
            return
        ran = message["ran"]
        case = ran["case"]
        self.outcomes[case] = (ran["outcome"], ran["reason"])
        if case not in self._left:
            return  # skipped without a process: nothing was waited for
        self._left[case] -= 1
        if ran["outcome"] != "ok":  # further rounds of it are not tried
            self._total -= self._left[case]
            self._left[case] = 0
        self._done += 1
        self._ran += 1
        self._took += ran["seconds"]
        self._expected[case] = ran["seconds"]
        self.say(
            f"[{self._done:{len(str(self._total))}}/{self._total}] {case}  {ran['outcome']}, "
            f"{human_time(self.seconds_left())} left",
            passing=ran["outcome"] == "ok",
        )

    def seconds_left(self) -> float:
        """Expected time of all that is still to run: remembered, or else the mean so far."""
        mean = self._took / self._ran if self._ran else 0.0
        return sum(
            (rounds + self._again * self._plan[case]) * self._expected.get(case, mean)
            for case, rounds in self._left.items()
        )

    def say(self, line: str, *, passing: bool = False) -> None:
        """Print a line; a passing one is overwritten by the next on a terminal."""
        end = "" if passing and self._live else "\n"
        start = "\r\x1b[2K" if self._live else ""
        print(f"{start}{line}", end=end, file=self._stream, flush=True)
