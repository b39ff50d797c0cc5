"""Handles the signals that end a run, SIGTERM and SIGHUP, and those of timers."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


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
def raising_after(seconds: float, error: type[BaseException]) -> Iterator[None]:
    """Raise an error in the body when the time is over.

    Args:
        seconds: above 0.
        error: its class.

    Raises:
        ValueError: this is not the main thread, the only one that can be interrupted.
    """

    def stop(_: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_globals.get("__name__") == "logging":
            # It may be a hook of `os.fork`, which ignores errors.
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            return
        raise error

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
