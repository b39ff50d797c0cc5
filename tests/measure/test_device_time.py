"""Kernels of a pass are counted, and their time is that in which the device was busy."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.gpu import needs_gpu
from torchspeed.measure.device_time import busy_seconds, device_time, events_on_device

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
