"""A trace of a few steps by torch.profiler: which operators and kernels a phase consists of."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from torch.profiler import profile, schedule

from torchspeed.training.observer import Observer
from torchspeed.training.phases import StepTimes

PROFILED_STEPS = 5
"""A trace grows by megabytes a step, and profiled steps are slower than others."""


class StepProfiler(Observer):
    """Traces the first steps after the first one, which is slower than those that follow.

    Args:
        file: for the trace, in Chrome's format; compressed when its name ends in ``.gz``.
    """

    def __init__(self, file: Path) -> None:
        os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # it writes to standard error otherwise
        self._file = file
        self._profiler: Any = None
        self._left = 0
        """Steps until the trace is written."""

    def begin(self, title: str, steps: int) -> None:
        """Begin with the first loop of the run."""
        if self._profiler is not None:
            return
        skipped = min(1, steps - 1)
        traced = min(PROFILED_STEPS, steps - skipped)
        self._left = skipped + traced
        self._profiler = profile(
            schedule=schedule(wait=0, warmup=skipped, active=traced, repeat=1),
            on_trace_ready=lambda trace: trace.export_chrome_trace(str(self._file)),
        )
        self._profiler.start()

    def step(self, items: int, times: StepTimes) -> None:
        """Count a step; the trace is written after the last one that belongs to it."""
        if self._left:
            self._left -= 1
            self._profiler.step()
