"""Shows the progress of a run: a bar with the time left, and a line for each epoch."""

import time

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress

from torchspeed.cli.show import error_console
from torchspeed.training.results import EpochRecord
from torchspeed.training.run import Observer

REDRAW_S = 0.5
"""Seconds between two drawings; one takes milliseconds, so drawing is near 1 % of the run."""


class RunProgress(Observer):
    """Shows a bar of the whole run on a terminal, and writes a line for each epoch.

    Drawing happens between steps, so that no phase pays for it.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or error_console()
        self._bar = Progress(
            *Progress.get_default_columns(),
            MofNCompleteColumn(),
            console=self._console,
            auto_refresh=False,  # a thread would draw while something is timed
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("steps")
        self._drawn = 0.0

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()

    def prepared(self, summary: str, steps: int) -> None:
        """Print a line that stays, and begin the bar."""
        self._console.print(summary)
        self._bar.update(self._task, total=steps)
        self._bar.start()

    def step(self) -> None:
        """Redraw, but not for every step."""
        now = time.monotonic()
        redraws = now - self._drawn >= REDRAW_S
        self._bar.update(self._task, advance=1, refresh=redraws)
        self._drawn = now if redraws else self._drawn

    def epoch(self, record: EpochRecord) -> None:
        """Print a line that stays."""
        accuracy = record.test_accuracy
        tested = "" if accuracy is None else f", test accuracy {100 * accuracy:.2f} %"
        self._console.print(
            f"epoch {record.number}: {record.wall_s:.2f} s, training loss "
            f"{record.train_loss:.4f}, held-out loss {record.held_out_loss:.4f}{tested}"
        )
