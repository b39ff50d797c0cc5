"""Handles SIGTERM and SIGHUP, which end a run as Ctrl-C does."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def handling_the_end(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Call a handler on SIGTERM and SIGHUP, unless the process handles or ignores them already."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGTERM, signal.SIGHUP) if in_main_thread else ()
    replaced = [number for number in numbers if signal.getsignal(number) == signal.SIG_DFL]
    for number in replaced:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in replaced:
            signal.signal(number, signal.SIG_DFL)
