"""Peaks are those of one warm pass on a device."""

from __future__ import annotations

import torch

from tests.gpu import needs_gpu
from torchspeed.measure.device_memory import device_peaks


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
