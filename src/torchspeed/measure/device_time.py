"""How long the kernels of a pass keep a CUDA device busy, and how many there are."""

import json
import statistics
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from torchspeed.measure.clocks import clock_for, seconds_per_call

FIRST_CALLS = 3
"""Passes before anything is measured: they load kernels and choose algorithms."""

PASSES = 10
"""Passes in a trace."""

_BATCH_S, _BATCHES = 0.02, 5
"""Seconds and number of the batches of passes that the device's own clock times."""

_ON_DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
"""Categories of a trace's events that occupy the device."""


@dataclass(frozen=True)
class DeviceTime:
    """How long one pass keeps the device busy."""

    kernel_seconds: float
    """Sum of the durations of all kernels, copies and fills."""
    busy_seconds: float
    """Time in which at least one of them ran: less than the sum where some overlap."""
    launches: float
    """Number of kernels, copies and fills; the same in every process on one kind of card."""
    busy_share: float
    """Busy time over the wall time of a pass that is not profiled."""
    event_seconds: float
    """Time of a pass by the device's clock, from events around passes that are queued one after
    another: what its kernels take and what it waits for the host in between."""


def device_time(run: Callable[[], object], device: str) -> DeviceTime:
    """Trace warm passes on a CUDA device, and time them without the profiler."""
    for _ in range(FIRST_CALLS):
        run()
    seconds = seconds_per_call(run, clock_for(device))
    _trace(run, device)  # the first trace of a process starts CUPTI
    events = _trace(run, device)
    busy = busy_seconds(events) / PASSES
    return DeviceTime(
        kernel_seconds=sum(end - start for start, end in events) / PASSES,
        busy_seconds=busy,
        launches=len(events) / PASSES,
        busy_share=busy / seconds,
        event_seconds=event_seconds(run, device, round(_BATCH_S / seconds)),
    )


def event_seconds(run: Callable[[], object], device: str, calls: int) -> float:
    """Return the seconds of a warm pass by the device's own clock, as the median of batches.

    A batch has so many ``calls`` of the pass; one at least.
    """
    stream = torch.cuda.current_stream(device)
    seconds: list[float] = []
    for _ in range(_BATCHES):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record(stream)
        for _ in range(max(1, calls)):
            run()
        end.record(stream)
        end.synchronize()
        seconds.append(start.elapsed_time(end) / 1000 / max(1, calls))
    return statistics.median(seconds)


def busy_seconds(events: Iterable[tuple[float, float]]) -> float:
    """Return the length of the union of intervals, each from its start to its end, in seconds."""
    busy, until = 0.0, float("-inf")
    for start, end in sorted(events):
        busy += max(0.0, end - max(start, until))
        until = max(until, end)
    return busy


def events_on_device(trace: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Return start and end, in seconds, of each event on the device in one of torch's traces."""
    return [
        (event["ts"] * 1e-6, (event["ts"] + event["dur"]) * 1e-6)
        for event in trace["traceEvents"]
        if event.get("cat") in _ON_DEVICE
    ]


def _trace(run: Callable[[], object], device: str) -> list[tuple[float, float]]:
    torch.cuda.synchronize(device)
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for _ in range(PASSES):
            run()
        torch.cuda.synchronize(device)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        profiler.export_chrome_trace(str(path))
        return events_on_device(json.loads(path.read_text(encoding="utf-8")))
