"""Says which step of a gate is running, and how much of the time limit is left."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from asv_watch.machine.budget import Budget
from asv_watch.progress import Display, human_time

SECONDS_BETWEEN_LINES = 30.0


@contextmanager
def step(name: str, budget: Budget) -> Iterator[None]:
    """Show a line when a step begins and every 30 s, and the duration if it took longer."""
    started = time.monotonic()
    ended = threading.Event()
    display = Display()

    def say_again() -> None:
        while not ended.wait(SECONDS_BETWEEN_LINES):
            display.say(f"  still {_with_time(name, budget)}")

    display.say(_with_time(name, budget))
    speaker = threading.Thread(target=say_again, daemon=True)
    speaker.start()
    try:
        yield
    finally:
        ended.set()
        speaker.join()
        seconds = time.monotonic() - started
        if seconds > SECONDS_BETWEEN_LINES:
            display.say(f"{name} took {human_time(seconds)}")


def _with_time(name: str, budget: Budget) -> str:
    return f"{name}, {human_time(max(0.0, budget.left_s))} of the limit left"
