"""Latency of inference requests over batch sizes and threads.

One request at a time, each of a whole batch that lies on the device; the next begins when the
answer is there. So throughput is that of one client, and queueing is not part of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
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
    """Measure every combination.

    Args:
        model: a workload's name.
        device: ``cpu``, ``cuda`` or ``cuda:N``.
        modes: of ``MODES``.
        batch_sizes: items of a request.
        threads: that torch's operators may use on the CPU.
        seconds: of measuring for each combination, and ``FEWEST_REQUESTS`` at least.
        on_result: called with each result.

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


def draw_latency(results: list[Latency], model: str, file: Path) -> None:
    """Draw latency and throughput against batch size; a line for each mode and thread count.

    Raises:
        OSError: the file cannot be written.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - a second to import

    figure = Figure(figsize=(9, 4), layout="constrained")
    latency, throughput = figure.subplots(1, 2)
    for mode, threads in dict.fromkeys((r.mode, r.threads) for r in results):
        line = [r for r in results if (r.mode, r.threads) == (mode, threads)]
        sizes = [r.batch_size for r in line]
        name = f"{mode}, {threads} thread{'s' if threads > 1 else ''}"
        [median] = latency.plot(sizes, [1e3 * r.p50_s for r in line], marker="o", label=name)
        colour = median.get_color()
        latency.plot(sizes, [1e3 * r.p99_s for r in line], "--", color=colour)
        throughput.plot(sizes, [r.items_per_s for r in line], marker="o", color=colour)
    latency.set_ylabel("latency, ms (median; dashed: 99th percentile)")
    throughput.set_ylabel("items/s")
    ticks = sorted({r.batch_size for r in results})
    for panel in (latency, throughput):
        panel.set_xlabel("batch size")
        panel.set_xscale("log")
        panel.set_xticks(ticks, [str(tick) for tick in ticks])
        panel.minorticks_off()
        panel.set_ylim(bottom=0)
    latency.legend(fontsize="small")
    figure.suptitle(f"{model}, one request at a time")
    figure.savefig(file)
