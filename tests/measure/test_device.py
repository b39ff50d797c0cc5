"""What a CUDA device does in a pass: its kernels, the time it is busy, and its peak of memory."""

import pytest
import torch

from tests.gpu import needs_gpu
from torchspeed.measure.device_memory import device_peaks
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


@needs_gpu
def test_a_pass_of_known_kernels_has_so_many_launches() -> None:
    x = torch.ones(1 << 24, device="cuda")
    measured = device_time(lambda: x.mul(2).add(1), "cuda")
    assert measured.launches == 2
    assert 0 < measured.busy_seconds <= measured.kernel_seconds * 1.01
    assert 0.5 < measured.busy_share < 1.2
    assert measured.event_seconds == pytest.approx(measured.busy_seconds, rel=0.5)


@needs_gpu
def test_a_pass_of_known_size_has_that_peak() -> None:
    mebibyte = 2**20
    first = torch.cuda.memory_allocated()

    def run(size: int = 64) -> None:
        torch.empty(size * mebibyte, dtype=torch.uint8, device="cuda")

    peaks = device_peaks(run, "cuda")
    assert peaks.allocated - first == 64 * mebibyte
    assert peaks.reserved >= peaks.allocated
    assert device_peaks(lambda: run(128), "cuda").allocated - first == 128 * mebibyte
