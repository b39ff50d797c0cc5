"""The clock that suits a device, and timing a call with it."""

import math
import time
from collections.abc import Callable, Mapping

import torch

Clock = Callable[[], float]
"""Seconds from some start; only differences mean anything."""

ROUNDS = (3, 10)
"""Fewest and most rounds of a workload that is compared with a floor or a peak."""

SECONDS = 2.0
"""Seconds of wall time after which no further round starts."""


def clock_for(device: str) -> Clock:
    """Choose the clock that times work on ``device``.

    On the CPU, at one thread, the CPU time of the process: other load on the
    machine moves wall time by tens of percent and this by a few. On CUDA, wall
    time with that device synchronised before each reading, because launches
    return before the work is done.
    """
    if not device.startswith("cuda"):
        return time.process_time

    def synchronised_wall_clock() -> float:
        torch.cuda.synchronize(device)
        return time.perf_counter()

    return synchronised_wall_clock


def seconds_per_call(run: Callable[[], object], clock: Clock, at_least: float = 0.02) -> float:
    """Return the time of one call, from calls in a row that take ``at_least`` seconds together.

    The number of calls is found by trial. Only the last batch counts; where calls
    are short, the batches before it are a warm-up. In less
    time than ``at_least`` the resolution of the clock would matter.
    """
    calls = 1
    while True:
        start = clock()
        for _ in range(calls):
            run()
        took = clock() - start
        if took >= at_least:
            return took / calls
        # A tenth more than needed, but tenfold at most: the first calls are slower than others.
        wanted = 1.1 * calls * at_least / took if took > 0 else math.inf
        calls = math.ceil(min(10 * calls, max(wanted, calls + 1)))


def interleaved(
    runs: Mapping[str, Callable[[], object]],
    reference: Callable[[], dict[str, float]],
    device: str,
    rounds: tuple[int, int] = ROUNDS,
) -> dict[str, list[tuple[float, float]]]:
    """Time passes and measure what they are compared with in turn, in so many rounds.

    What slows the machine for a while slows both, so it cancels in their ratio. ``reference``
    measures the device now, and returns a value for each pass by its name.

    Returns:
        For each pass and round its seconds, and the mean of the reference just before and after.
    """
    for run in runs.values():
        run()  # compiles and warms up; a pass of seconds gets no other warm-up
    clock = clock_for(device)
    least, most = rounds
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    begun = time.perf_counter()
    before = reference()
    for done in range(most):
        if done >= least and time.perf_counter() - begun >= SECONDS:
            break
        times = {name: seconds_per_call(run, clock) for name, run in runs.items()}
        after = reference()
        for name, seconds in times.items():
            measured[name].append((seconds, (before[name] + after[name]) / 2))
        before = after
    return measured
