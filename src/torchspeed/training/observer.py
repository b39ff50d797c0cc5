"""Callbacks for the progress of a run."""

from __future__ import annotations

from torchspeed.training.phases import StepTimes
from torchspeed.training.results import EpochRecord


class Observer:
    """Callbacks of a run; those of this class do nothing."""

    def prepared(self, summary: str) -> None:
        """Model and data are there, and the work begins."""

    def begin(self, title: str, steps: int) -> None:
        """Note that a loop of so many steps starts."""

    def step(self, items: int, times: StepTimes) -> None:
        """Note that a step is done."""

    def epoch(self, record: EpochRecord) -> None:
        """Note that an epoch and its test are done."""


NOBODY = Observer()
