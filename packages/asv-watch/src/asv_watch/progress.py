"""Shows how far a measurement has come, and how long it will still take."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Self

from rich import progress
from rich.console import Console

from asv_watch.machine.budget import Budget
from asv_watch.text.terminal import printable

SECONDS_BETWEEN_LINES = 30.0
"""A step whose end is not in sight has a new line this often."""


def human_time(seconds: float) -> str:
    """Write a duration as a person says it: ``40 s``, ``3 min 20 s``, ``1 h 05 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def time_left(budget: Budget) -> str:
    """Say how much of a time limit is left: ``3 min 20 s of the limit left``."""
    return f"{human_time(max(0.0, budget.left_s))} of the limit left"


class Display(AbstractContextManager["Display"]):
    """Shows progress: as a bar on a terminal, elsewhere as one line per step."""

    def __init__(self) -> None:
        self._console = Console(
            file=getattr(sys.stdout, "unfiltered", sys.stdout),  # to draw on a terminal
            soft_wrap=True,
            markup=False,
            emoji=False,
            highlight=False,
        )
        self._bar = progress.Progress(
            progress.BarColumn(bar_width=20),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.description}", markup=False),
            console=self._console,
            auto_refresh=False,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def step(self, text: str, *, done: int, total: int) -> None:
        """Show the result of a step and the remaining time, after so many steps."""
        text = printable(text)
        if not self._console.is_terminal:
            self.say(text)
        self._bar.update(self._task, total=total, completed=done, description=text, refresh=True)

    def say(self, line: str) -> None:
        """Print a line, above the bar if there is one."""
        self._console.print(printable(line))

    @contextmanager
    def during(self, name: str, budget: Budget) -> Iterator[None]:
        """Print a line when a step of unknown length begins and every 30 s; say how long it took.

        Each line says how much of the time limit is left.
        """
        started = time.monotonic()
        ended = threading.Event()

        def say_again() -> None:
            while not ended.wait(SECONDS_BETWEEN_LINES):
                self.say(f"  still {name}, {time_left(budget)}")

        self.say(f"{name}, {time_left(budget)}")
        speaker = threading.Thread(target=say_again, daemon=True)
        speaker.start()
        try:
            yield
        finally:
            ended.set()
            speaker.join()
            seconds = time.monotonic() - started
            if seconds > SECONDS_BETWEEN_LINES:
                self.say(f"{name} took {human_time(seconds)}")
