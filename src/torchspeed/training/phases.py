"""Splits the time of each step of a run among its phases.

The phases are BenchmarkJade's. There a phase ends when the host gets that far, so on a GPU a phase
that only launches work looks free and the next one that waits pays for it. Here a phase ends when
the *device* has done its work: marks are put on the device's own timeline and read after the loop,
so that no step waits for them.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor


class Phase(StrEnum):
    """The parts of a step, in order."""

    LOADING = "data loading"
    """Waiting for the next batch; on a GPU, while it has nothing else to do."""
    PROCESSING = "data processing"
    """Moving the batch to the device and changing it there."""
    FORWARD = "forward"
    """Model and loss."""
    BACKWARD = "backward"
    """Gradient and the optimiser's step."""


StepTimes = dict[str, float]
"""Seconds of each phase in one step, by the phase's value; a step of inference has no backward."""


class PhaseClock:
    """Splits steps into phases: ``begin`` starts a step, and each ``mark`` ends its next phase.

    On a CPU a mark is a time; on a GPU it is an event among the kernels.
    """

    def __init__(self, device: torch.device) -> None:
        self._stream = torch.cuda.current_stream(device) if device.type == "cuda" else None
        self._steps: list[list[Any]] = []

    def begin(self) -> None:
        """Begin a step."""
        self._steps.append([])
        self.mark()

    def mark(self) -> None:
        """End a phase, whose work has all been given to the device."""
        mark: Any = time.perf_counter()
        if self._stream is not None:
            mark = torch.cuda.Event(enable_timing=True)
            mark.record(self._stream)
        self._steps[-1].append(mark)

    def wait(self) -> float:
        """Wait until the device has done all work, and return the host's time in seconds."""
        if self._stream is not None:
            self._stream.synchronize()
        return time.perf_counter()

    def times(self) -> list[StepTimes]:
        """Return the times of all steps; the device must have done their work."""
        return [
            {str(phase): self._seconds(*ends) for phase, ends in zip(Phase, pairwise(marks))}  # noqa: B905 - inference has fewer
            for marks in self._steps
            if len(marks) > 1  # the last one found no batch
        ]

    def _seconds(self, earlier: Any, later: Any) -> float:
        if self._stream is None:
            return float(later - earlier)
        return float(earlier.elapsed_time(later)) / 1e3  # CUDA counts milliseconds


@dataclass(frozen=True, slots=True)
class PhaseSummary:
    """One phase over many steps, all in seconds."""

    median_s: float
    iqr_s: float
    """Interquartile range."""
    total_s: float
    """Warm-up included."""


def summarise(steps: list[StepTimes], warmup: list[StepTimes]) -> dict[str, PhaseSummary]:
    """Return median and IQR of each phase in seconds; warm-up steps count only in totals."""
    summaries = {}
    for phase in steps[0] if steps else ():
        seconds = [step[phase] for step in steps]
        low, median, high = np.percentile(seconds, (25, 50, 75)).tolist()
        total = sum(seconds) + sum(step[phase] for step in warmup)
        summaries[phase] = PhaseSummary(median, high - low, total)
    return summaries


Step = Callable[[Any, PhaseClock], tuple[Tensor, Tensor, Tensor]]
"""Processes a batch and marks the end of each phase after loading. Returns the mean loss of the
items, the outputs and the targets, still on the device."""


@dataclass(slots=True)
class LoopResult:
    """The results of a loop; warm-up steps count for loss and accuracy, but are not measured."""

    warmup: list[StepTimes] = field(default_factory=list)
    steps: list[StepTimes] = field(default_factory=list)
    warmup_s: float = 0.0
    """Wall time of the warm-up."""
    wall_s: float = 0.0
    """Wall time of the measured steps and what lies between them."""
    cpu_s: float = 0.0
    """CPU time of this process, all its threads, in all steps."""
    measured_items: int = 0
    loss: float = math.nan
    """Mean loss of an item, of all ranks together."""
    accuracy: float | None = None
    """Share of items that all ranks classified correctly, 0 to 1; None for a forecast."""

    def total_s(self, *phases: Phase) -> float:
        """Seconds of some phases in all steps."""
        return sum(step[phase] for step in (*self.warmup, *self.steps) for phase in phases)
