"""Time limits of measurements: ``--budget`` and ``--limit``."""

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from asv_watch.errors import WatchError

_UNITS_S = {"h": 3600.0, "min": 60.0, "m": 60.0, "s": 1.0}
_LONGEST_S = 366 * 24 * 3600.0
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_PART = rf" ?({_NUMBER}) ?(h|min|m|s)"


class BudgetSpentError(KeyboardInterrupt):
    """The time is over: like an interrupt, this ends the measurement in progress."""


def parse_duration_s(text: str) -> float:
    """Read a duration such as ``4h``, ``1h 30m`` or ``600`` (seconds); return seconds.

    Raises:
        WatchError: it is not a duration, no time at all, or more than a year.
    """
    spaced = re.sub(" +", " ", text.strip(" "))
    if re.fullmatch(_NUMBER, spaced):
        spaced += "s"
    parts = re.findall(_PART, spaced)
    duration_s = sum(float(number) * _UNITS_S[unit] for number, unit in parts)
    if not re.fullmatch(f"(?:{_PART})+", spaced):
        fault = "is not a duration"
    elif duration_s == 0:
        fault = "leaves no time to measure"
    elif duration_s > _LONGEST_S:
        fault = "is longer than a year"
    else:
        return duration_s
    remedy = "give a duration such as 4h, 90min or 1h30min"
    raise WatchError(f"the time limit {text[:100]!r} {fault}; {remedy}")


class Budget:
    """A time limit that starts when it is made."""

    def __init__(self, limit_s: float, clock: Callable[[], float]) -> None:
        """Start; the clock gives seconds since some fixed moment."""
        self._clock = clock
        self._end = clock() + limit_s

    @property
    def left_s(self) -> float:
        """Seconds left; negative once they are spent."""
        return self._end - self._clock()

    @contextmanager
    def enforced(self) -> Iterator[None]:
        """Interrupt the body when the time is over; only in the main thread.

        Raises:
            BudgetSpentError: the time is over.
        """
        left_s = self.left_s
        if left_s <= 0:
            raise BudgetSpentError

        def stop(_: int, frame: FrameType | None) -> None:
            if frame is not None and frame.f_globals.get("__name__") == "logging":
                # It may be a hook of `os.fork`, which ignores errors.
                signal.setitimer(signal.ITIMER_REAL, 0.01)
                return
            raise BudgetSpentError

        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, left_s)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def is_spent(budget: Budget | None) -> bool:
    """Tell whether there is a limit, and its time is over."""
    return budget is not None and budget.left_s <= 0


def run_within(budget: Budget | None, work: Callable[[], object]) -> None:
    """Do some work, and interrupt it when the time is over; say so if that happens."""
    if budget is None:
        work()
        return
    try:
        with budget.enforced():
            work()
    except BudgetSpentError:
        print("the time is over; the same command continues here", flush=True)
