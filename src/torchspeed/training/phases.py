"""The phases of a step, and a clock that splits a step's time among them.

The split is BenchmarkJade's: waiting for a batch, moving and changing it,
forward, backward with the optimiser's step; what lies between two steps is
bookkeeping, so that the phases add up to the wall time. In BenchmarkJade a phase ends when the
host gets that far, so on a GPU a phase that only launches work looks free and the
next one that waits pays for it. Here a phase ends when the *device* has done
its work: marks are put on the device's own timeline and read once, at the end
of the step.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import torch


class Phase(StrEnum):
    """The parts of a step, in order."""

    LOADING = "data loading"
    """Waiting for the next batch."""
    PROCESSING = "data processing"
    """Moving the batch to the device and changing it there."""
    FORWARD = "forward"
    """Model and loss."""
    BACKWARD = "backward"
    """Gradient and the optimiser's step."""
    BOOKKEEPING = "bookkeeping"
    """The rest of a step's wall time: adding up losses and correct answers, showing progress."""


StepTimes = dict[str, float]
"""Seconds of each phase in one step, by the phase's value."""


class PhaseClock:
    """Splits each step between ``start`` and ``stop`` into phases.

    On a CPU work is done when its call returns, and a mark is a time; on a GPU it is an event
    among the kernels. A step starts with the device idle (the last one waited for it), so a mark
    is passed when both host and device are that far. Reading the marks takes one wait, at the
    end; what the host needs to notice that the device is done belongs to the last phase.

    If it is not ``timed``, nothing is marked or waited for and every phase takes 0 s, to measure
    throughput alone.
    """

    def __init__(self, device: torch.device, *, timed: bool = True) -> None:
        self._stream = torch.cuda.current_stream(device) if device.type == "cuda" else None
        self.timed = timed
        self._marks: list[tuple[Phase, Any]] = []

    def start(self) -> None:
        """Begin a step."""
        self._marks = []
        self._began = self._host()
        self._origin = self._mark()

    def end_of(self, phase: Phase) -> None:
        """Mark the end of ``phase``, whose work has all been given to the device."""
        self._marks.append((phase, self._mark()))

    def stop(self) -> StepTimes:
        """End the step: wait for the device, and return seconds by phase, 0 for absent ones."""
        self.settle()
        span = self._host() - self._began
        times = {phase.value: 0.0 for phase in Phase}
        earlier = self._origin
        for phase, mark in self._marks:
            times[phase] += self._seconds(earlier, mark)
            earlier = mark
        last = self._marks[-1][0]
        times[last] += max(0.0, span - sum(times.values()))
        return times

    def _host(self) -> float:
        """Return the host's clock, in seconds."""
        return time.perf_counter() if self.timed else 0.0

    def settle(self) -> None:
        """Wait for the device if phases are timed."""
        if self.timed:
            self.finish()

    def finish(self) -> None:
        """Wait until all work is done: after the warm-up, and after the last step."""
        if self._stream is not None:
            self._stream.synchronize()

    def _mark(self) -> Any:
        """Return a point that is passed once all work given so far is done."""
        if self._stream is None or not self.timed:
            return self._host()
        event = torch.cuda.Event(enable_timing=True)
        event.record(self._stream)
        return event

    def _seconds(self, earlier: Any, later: Any) -> float:
        """Return the time between two marks that are passed; CUDA counts it in milliseconds."""
        if self._stream is None or not self.timed:
            return float(later - earlier)
        return float(earlier.elapsed_time(later)) / 1e3


@dataclass(frozen=True, slots=True)
class PhaseSummary:
    """One phase over many steps, all in seconds."""

    median_s: float
    iqr_s: float
    """Interquartile range."""
    total_s: float
    """Warm-up steps included."""


def summarise(steps: list[StepTimes], warmup: Sequence[StepTimes] = ()) -> dict[str, PhaseSummary]:
    """Return median and IQR of each phase in seconds; warm-up steps count only in totals."""
    if not steps:
        return {}
    summaries = {}
    for phase in Phase:
        seconds = [step[phase] for step in steps]
        low, median, high = np.percentile(seconds, (25, 50, 75)).tolist()
        total = sum(seconds) + sum(step[phase] for step in warmup)
        summaries[phase.value] = PhaseSummary(median, high - low, total)
    return summaries
