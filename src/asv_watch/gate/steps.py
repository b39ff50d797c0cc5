"""Says which step of a gate is running, and how much of the time limit is left."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from asv_watch.machine.budget import Budget
from asv_watch.progress import human_time

SECONDS_BETWEEN_LINES = 30.0


@contextmanager
def step(name: str, budget: Budget) -> Iterator[None]:
    """Print a line when a step begins and every 30 s, and the duration if it took longer."""
    started = time.monotonic()
    ended = threading.Event()

    def say_again() -> None:
        while not ended.wait(SECONDS_BETWEEN_LINES):
            print(f"  still {_with_time(name, budget)}", flush=True)

    print(_with_time(name, budget), flush=True)
    speaker = threading.Thread(target=say_again, daemon=True)
    speaker.start()
    try:
        yield
    finally:
        ended.set()
        speaker.join()
        seconds = time.monotonic() - started
        if seconds > SECONDS_BETWEEN_LINES:
            print(f"{name} took {human_time(seconds)}", flush=True)


def _with_time(name: str, budget: Budget) -> str:
    return f"{name}, {human_time(max(0.0, budget.left_s))} of the limit left"
