"""Shows how far a run is: a bar with steps a second and time left, and a line an epoch."""

from __future__ import annotations

import sys
from threading import RLock

from tqdm import tqdm

from torchspeed.training.context import Observer
from torchspeed.training.phases import StepTimes
from torchspeed.training.results import EpochRecord

REDRAW_S = 0.5
"""A drawing takes milliseconds between two steps: this keeps it near 1 % of the run."""


class RunProgress(Observer):
    """Shows a bar with steps a second and time left on a terminal, and writes one line an epoch.

    Drawing happens between steps, so that no phase pays for it.
    """

    def __init__(self) -> None:
        tqdm.set_lock(RLock())  # its own is a semaphore, which a rank that is killed leaves behind
        self._bar = tqdm(disable=True)

    def close(self) -> None:
        """Take the bar away."""
        self._bar.close()

    def prepared(self, summary: str) -> None:
        """Print a line that stays."""
        tqdm.write(summary, file=sys.stderr)

    def begin(self, title: str, steps: int) -> None:
        """Begin a new bar for a loop; None is for terminals alone."""
        self._bar.close()
        self._bar = tqdm(total=steps, desc=title, unit="step", leave=False, disable=None,
                         mininterval=REDRAW_S, dynamic_ncols=True)  # fmt: skip

    def step(self, items: int, times: StepTimes) -> None:
        """Redraw, but not for every step."""
        self._bar.update()

    def epoch(self, record: EpochRecord) -> None:
        """Print a line that stays."""
        held_out = ""
        if record.validation_loss is not None:
            held_out = f"; validation loss {record.validation_loss:.4f}"
        if record.test_loss is not None:
            held_out = f"; test loss {record.test_loss:.4f}"
        if record.test_accuracy is not None:
            held_out += f", accuracy {100 * record.test_accuracy:.2f} %"
        tqdm.write(
            f"epoch {record.number}: {record.wall_s:.2f} s, training loss "
            f"{record.train_loss:.4f}{held_out}",
            file=sys.stderr,
        )
