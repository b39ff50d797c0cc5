"""The right clock for a device."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

Clock = Callable[[], float]
"""Seconds from some start; only differences mean anything."""

CLOCK_NAMES = {
    "cpu": "CPU time of the process",
    "cuda": "wall time, device synchronised at both ends",
}
"""Device type to what its clock counts."""


def _synchronised_wall_clock() -> float:
    torch.cuda.synchronize()
    return time.perf_counter()


def clock_for(device: str) -> Clock:
    """Choose the clock that times work on ``device``.

    On the CPU, at one thread, the CPU time of the process: other load on the
    machine moves wall time by tens of percent and this by a few. On CUDA, wall
    time with the device synchronised before each reading, because launches
    return before the work is done.
    """
    return _synchronised_wall_clock if device.startswith("cuda") else time.process_time
