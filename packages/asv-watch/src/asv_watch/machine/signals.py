"""Handles the signals that end a run, SIGTERM and SIGHUP, and those of timers."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


@contextmanager
def handling_the_end(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Call a handler on SIGTERM and SIGHUP, unless the process handles or ignores them already."""
    numbers = signal.SIGTERM, signal.SIGHUP
    replaced = [number for number in numbers if signal.getsignal(number) == signal.SIG_DFL]
    for number in replaced:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in replaced:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def raising_after(
    seconds: float, error: type[BaseException], *, of_cpu: bool = False
) -> Iterator[None]:
    """Raise an error in the body when the time is over.

    Args:
        seconds: above 0.
        error: its class.
        of_cpu: whether only CPU time counts; this timer and the other one may run together.

    Raises:
        ValueError: this is not the main thread, the only one that can be interrupted.
    """
    number, timer = signal.SIGALRM, signal.ITIMER_REAL
    if of_cpu:
        number, timer = signal.SIGVTALRM, signal.ITIMER_VIRTUAL

    def stop(*_: object) -> NoReturn:
        raise error

    before = signal.signal(number, stop)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)
