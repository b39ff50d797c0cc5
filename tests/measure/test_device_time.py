"""Kernels of a pass are counted, and their time is that in which the device was busy."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.gpu import needs_gpu
from torchspeed.measure.device_time import (
    busy_seconds,
    device_time,
    event_seconds,
    events_on_device,
)

TRACE = {
    "traceEvents": [
        {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 1.0, "dur": 9.0},
        {"cat": "kernel", "name": "sgemm", "ts": 10.0, "dur": 4.0},
        {"cat": "gpu_memcpy", "name": "Memcpy DtoD", "ts": 12.0, "dur": 4.0},
        {"cat": "gpu_memset", "name": "Memset", "ts": 20.0, "dur": 1.0},
        {"cat": "gpu_user_annotation", "name": "ProfilerStep#1", "ts": 0.0, "dur": 90.0},
        {"ph": "M", "name": "process_name"},
    ]
}


def test_only_what_occupies_the_device_counts_and_overlaps_count_once() -> None:
    events = events_on_device(TRACE)
    assert len(events) == 3
    assert busy_seconds(events) == pytest.approx(7e-6)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=12))
def test_the_device_is_busy_where_any_interval_lies(spans: list[tuple[int, int]]) -> None:
    events = [(float(start), float(start + length)) for start, length in spans]
    seconds = {second for start, length in spans for second in range(start, start + length)}
    for order in itertools.islice(itertools.permutations(events), 6):
        assert busy_seconds(order) == len(seconds)


@needs_gpu
def test_a_pass_of_known_kernels_has_so_many_launches() -> None:
    x = torch.ones(1 << 24, device="cuda")
    measured = device_time(lambda: x.mul(2).add(1), "cuda")
    assert measured.launches == 2
    assert 0 < measured.busy_seconds <= measured.kernel_seconds * 1.01
    assert 0.5 < measured.busy_share < 1.2
    assert measured.event_seconds == pytest.approx(measured.busy_seconds, rel=0.5)


class SimulatedEvent:
    """Reads a device's clock, which moves only while passes are queued."""

    now_ms = 0.0

    def __init__(self, enable_timing: bool) -> None:
        assert enable_timing
        self._ms: float | None = None
        self._is_waited_for = False

    def record(self, stream: object) -> None:
        assert stream == "the stream of cuda:1"
        self._ms = SimulatedEvent.now_ms

    def synchronize(self) -> None:
        self._is_waited_for = True

    def elapsed_time(self, end: SimulatedEvent) -> float:
        assert end._is_waited_for, "torch has no time of an event that is not over"
        assert self._ms is not None
        assert end._ms is not None
        return end._ms - self._ms


@pytest.mark.parametrize("calls", [0, 1, 7])
def test_the_time_of_a_pass_by_events_is_that_of_the_stream_it_is_queued_on(
    monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    monkeypatch.setattr(torch.cuda, "Event", SimulatedEvent)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: f"the stream of {device}")

    def run() -> None:
        SimulatedEvent.now_ms += 3.0

    assert event_seconds(run, "cuda:1", calls) == pytest.approx(3e-3)
