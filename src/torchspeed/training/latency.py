"""Latency of inference requests over batch sizes and threads.

One request at a time, each of a whole batch that lies on the device; the next begins when the
answer is there. So throughput is that of one client, and queueing is not part of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import nn

from torchspeed.devices import missing_device
from torchspeed.errors import TorchspeedError
from torchspeed.measure.compilation import cannot_compile
from torchspeed.workloads import Workload, get_workload

MODES = ("eager", "compile")
"""The module itself, or compiled by ``torch.compile``."""

WARMUP_REQUESTS = 5
FEWEST_REQUESTS = 100
"""The 99th percentile of fewer is their slowest one."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Requests of one batch size, on so many threads."""

    mode: str
    threads: int
    batch_size: int
    requests: int
    p50_s: float
    p90_s: float
    p99_s: float
    items_per_s: float


def measure_latency(
    model: str,
    *,
    device: str,
    modes: Sequence[str],
    batch_sizes: Sequence[int],
    threads: Sequence[int],
    seconds: float,
    on_result: Callable[[Latency], None] = lambda _latency: None,
) -> list[Latency]:
    """Measure every combination for so many seconds, and ``FEWEST_REQUESTS`` at least.

    Raises:
        TorchspeedError: unknown model or mode, absent device, or no compiler for the mode.
    """
    for mode in modes:
        if mode not in MODES:
            raise TorchspeedError(f"no mode {mode!r}; give {', '.join(MODES)}")
    try:
        workload = get_workload(model)
        absent = missing_device(device)
    except ValueError as error:
        raise TorchspeedError(str(error)) from None
    if absent:
        raise TorchspeedError(f"{absent}; use --device cpu")
    unable = cannot_compile(device) if "compile" in modes else None
    if unable:
        raise TorchspeedError(f"{unable}, or give --modes eager")
    module = workload.create_model(device=str(device)).eval()
    before = torch.get_num_threads()
    results = []
    try:
        for count, mode, size in product(threads, modes, batch_sizes):
            torch.set_num_threads(count)
            samples = _requests(module, workload, mode, size, device, seconds)
            p50, p90, p99 = (float(value) for value in np.percentile(samples, (50, 90, 99)))
            rate = size * len(samples) / sum(samples)
            result = Latency(mode, count, size, len(samples), p50, p90, p99, rate)
            results.append(result)
            on_result(result)
    finally:
        torch.set_num_threads(before)
    return results


@torch.inference_mode()
def _requests(
    module: nn.Module, workload: Workload, mode: str, size: int, device: str, seconds: float
) -> list[float]:
    """Return the seconds of each request, warm-up left out."""
    inputs = workload.example_inputs(size, device=device)
    serve: Callable[..., Any] = module if mode == "eager" else torch.compile(module)

    def request() -> float:
        began = time.perf_counter()
        serve(inputs)
        if inputs.is_cuda:
            torch.cuda.synchronize()
        return time.perf_counter() - began

    for _ in range(WARMUP_REQUESTS):
        request()
    samples: list[float] = []
    measured_s = 0.0
    while len(samples) < FEWEST_REQUESTS or measured_s < seconds:
        samples.append(request())
        measured_s += samples[-1]
    return samples
