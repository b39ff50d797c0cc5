"""How far a run is: a bar with throughput and time left, or a line an epoch."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from torchspeed.training.observer import Observer
from torchspeed.training.phases import StepTimes
from torchspeed.training.results import EpochRecord

REDRAW_S = 0.5
"""A drawing takes milliseconds between two steps: this keeps it near 1 % of the run."""


class RunProgress(Observer):
    """Shows steps on a terminal; elsewhere writes one line an epoch.

    Drawing happens between steps, so that no phase pays for it.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            auto_refresh=False,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", rate="")
        self._steps = self._items = 0
        self._began = self._drawn = 0.0

    def __enter__(self) -> RunProgress:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def prepared(self, summary: str) -> None:
        """Print a line that stays."""
        self.console.print(summary, highlight=False)

    def begin(self, title: str, steps: int) -> None:
        """Begin a new bar for a loop."""
        self._steps = self._items = 0
        self._began = self._drawn = time.perf_counter()
        self._bar.reset(self._task, total=steps, description=title, rate="")

    def step(self, items: int, times: StepTimes) -> None:
        """Redraw, but not for every step."""
        self._steps += 1
        self._items += items
        now = time.perf_counter()
        if now - self._drawn < REDRAW_S:
            return
        self._drawn = now
        rate = self._items / (now - self._began)
        self._bar.update(self._task, completed=self._steps, rate=f"{rate:,.0f} items/s")
        self._bar.refresh()

    def epoch(self, record: EpochRecord) -> None:
        """Print a line that stays."""
        held_out = ""
        if record.validation_loss is not None:
            held_out = f"; validation loss {record.validation_loss:.4f}"
        if record.test_loss is not None:
            held_out = f"; test loss {record.test_loss:.4f}"
        if record.test_accuracy is not None:
            held_out += f", accuracy {100 * record.test_accuracy:.2f} %"
        self.console.print(
            f"epoch {record.number}: {record.wall_s:.2f} s, training loss "
            f"{record.train_loss:.4f}{held_out}",
            highlight=False,
        )
