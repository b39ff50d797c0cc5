"""Passes at several batches on one core, on more and on a GPU: when is the GPU faster?"""

from __future__ import annotations

import os
import time
from importlib import import_module
from itertools import product

from ._cases import DEVICES, FORECASTERS, SMALL_CNNS, TIME_SERIES
from ._suite import _TimedPasses, skipped

IMPLEMENTATIONS = ["plain", "tuned"]
THREADS = [1, 4, "all"]
ALL_BATCHES = [1, 32, 256, 2048, "source"]
FEW_BATCHES = [1, "source", 256]

_one_thread_on_gpus = skipped(
    [
        *product(TIME_SERIES + SMALL_CNNS, ["cuda"], IMPLEMENTATIONS, THREADS[1:], ALL_BATCHES),
        *product(FORECASTERS, ["cuda"], ["plain"], ["all"], FEW_BATCHES),
    ],
    because="a GPU's work is launched by one thread",
)


class _Batches(_TimedPasses):
    """Batch ``source`` is that of the workload's source. With several threads, wall time counts.

    Small models are the fastest on a few threads, so the host's best number is not always all.
    """

    param_names = ("model", "device", "implementation", "threads", "batch")

    def setup(
        self, model: str, device: str, implementation: str, threads: int | str, batch: int | str
    ) -> None:
        """Set the number of threads, and build the passes; skip more threads than cores."""
        cores = len(getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0))
        number = cores if threads == "all" else int(threads)
        if number > cores:
            raise NotImplementedError(f"{number} threads need as many cores; here are {cores}")
        import_module("torch").set_num_threads(number)
        self.build(model, device, implementation, batch=None if batch == "source" else batch)
        self.choose_clock(device)
        if threads != 1:
            self.timer = time.perf_counter  # CPU time would be the sum over the cores

    time_forward = _one_thread_on_gpus(_TimedPasses.time_forward)
    time_backward = _one_thread_on_gpus(_TimedPasses.time_backward)


class TimeSeries(_Batches):
    """Forecasting models, from one sample to thousands."""

    params = (TIME_SERIES, DEVICES, IMPLEMENTATIONS, THREADS, ALL_BATCHES)


class Forecasters(_Batches):
    """Today's forecasters, which have no tuned implementation; their source's batch is 32."""

    params = (FORECASTERS, DEVICES, ["plain"], [1, "all"], FEW_BATCHES)


class SmallCNNs(_Batches):
    """Small image classifiers."""

    params = (SMALL_CNNS, DEVICES, IMPLEMENTATIONS, THREADS, [1, "source"])
