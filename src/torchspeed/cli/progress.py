"""Shows the progress of a run: a bar with steps a second and time left, and a line per epoch."""

from __future__ import annotations

import time

import torch

from torchspeed.cli.outputs import error_console, progress_bar
from torchspeed.training.context import Observer
from torchspeed.training.cores import load_warning
from torchspeed.training.phases import StepTimes
from torchspeed.training.results import EpochRecord

REDRAW_S = 0.5
"""Seconds between two drawings; one takes milliseconds, so drawing is near 1 % of the run."""


SPEED = "steps, {task.fields[rate]:.3g} a second,"


class RunProgress(Observer):
    """Shows a bar with speed and time left on a terminal, and writes a line for each epoch.

    Drawing happens between steps, so that no phase pays for it.
    """

    def __init__(self, ranks: int = 1) -> None:
        self._ranks = ranks
        self._console = error_console()
        self._bar = progress_bar(self._console, SPEED)
        self._task = self._bar.add_task("", rate=0.0)
        self._began = self._drawn = 0.0

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()

    def prepared(self, summary: str) -> None:
        """Print a line that stays, and another one where too many processes share the cores."""
        self._console.print(summary)
        if (warning := load_warning(torch.get_num_threads(), self._ranks)) is not None:
            self._console.print(f"warning: {warning}")

    def begin(self, title: str, steps: int) -> None:
        """Begin a new bar for a loop; it is for terminals alone."""
        self._bar.stop()
        self._bar = progress_bar(self._console, SPEED)
        self._task = self._bar.add_task(title, total=steps, rate=0.0)
        self._bar.start()
        self._began = self._drawn = time.monotonic()

    def step(self, items: int, times: StepTimes) -> None:
        """Redraw, but not for every step."""
        self._bar.advance(self._task)
        now = time.monotonic()
        if now - self._drawn >= REDRAW_S:
            done = self._bar.tasks[0].completed
            self._bar.update(self._task, rate=done / (now - self._began))
            self._bar.refresh()
            self._drawn = now

    def epoch(self, record: EpochRecord) -> None:
        """Print a line that stays."""
        held_out = ""
        if record.validation_loss is not None:
            held_out = f"; validation loss {record.validation_loss:.4f}"
        if record.test_loss is not None:
            held_out = f"; test loss {record.test_loss:.4f}"
        if record.test_accuracy is not None:
            held_out += f", accuracy {100 * record.test_accuracy:.2f} %"
        self._bar.stop()
        self._console.print(
            f"epoch {record.number}: {record.wall_s:.2f} s, training loss "
            f"{record.train_loss:.4f}{held_out}"
        )
