"""Latency of one forecast: single calls at a batch of one."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from torchspeed.measure.clocks import Clock, clock_for
from torchspeed.measure.passes import passes

FIRST_CALLS, FIRST_SECONDS = 3, 0.5
"""Calls, and seconds of calls, that are not counted, because they compile and load kernels."""

CALLS, SECONDS = (100, 2000), 4.0
"""Fewest and most counted calls, and the seconds after which no further one starts."""


@dataclass(frozen=True)
class Latency:
    """Wall time of single calls."""

    median_seconds: float
    percentile_99_seconds: float
    """Time that one call in a hundred exceeds."""


def latency_of(workload: str, device: str, mode: str = "eager") -> Latency:
    """Time single inferences of one sample by the plain model, each until its result is there."""
    built = passes(workload, device, 1, mode=mode, implementation="plain")
    clock = clock_for(device) if device.startswith("cuda") else time.perf_counter
    seconds = single_calls(built.forward, clock)
    return Latency(*np.quantile(seconds, (0.5, 0.99)).tolist())


def single_calls(run: Callable[[], object], clock: Clock) -> list[float]:
    """Return the seconds of each counted call on a clock, which waits for the result."""

    def time_call() -> float:
        begun = clock()
        run()
        return clock() - begun

    first = [time_call() for _ in range(FIRST_CALLS)]
    while sum(first[1:]) < FIRST_SECONDS and len(first) < CALLS[1]:
        first.append(time_call())
    least, most = CALLS
    counted: list[float] = []
    while len(counted) < least or (sum(counted) < SECONDS and len(counted) < most):
        counted.append(time_call())
    return counted
