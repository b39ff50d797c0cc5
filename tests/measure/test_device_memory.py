"""Peaks are those of one warm pass: on a device where there is one, and in the order of steps."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from torchspeed.measure.device_memory import DevicePeaks, device_peaks


class RecordedCuda:
    """Notes what is asked of ``torch.cuda``, for machines that have no device."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[str] = []
        answers = {"max_memory_allocated": 300, "max_memory_reserved": 500}
        for name in ("synchronize", "empty_cache", "reset_peak_memory_stats", *answers):
            monkeypatch.setattr(torch.cuda, name, self._recorder(name, answers.get(name)))

    def run(self) -> None:
        self.steps.append("run")

    def _recorder(self, name: str, answer: int | None) -> Any:
        def step(*devices: str) -> int | None:
            assert set(devices) <= {"cuda:1"}, "another device is asked"
            self.steps.append(name)
            return answer

        return step


def test_the_peaks_are_reset_after_the_warm_up_and_read_when_the_pass_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cuda = RecordedCuda(monkeypatch)
    assert device_peaks(cuda.run, "cuda:1") == DevicePeaks(allocated=300, reserved=500)
    assert cuda.steps[:6] == [
        "run",
        "synchronize",
        "empty_cache",
        "reset_peak_memory_stats",
        "run",
        "synchronize",
    ]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device")
def test_a_pass_of_known_size_has_that_peak() -> None:
    mebibyte = 2**20
    first = torch.cuda.memory_allocated()

    def run(size: int = 64) -> None:
        torch.empty(size * mebibyte, dtype=torch.uint8, device="cuda")

    peaks = device_peaks(run, "cuda")
    assert peaks.allocated - first == 64 * mebibyte
    assert peaks.reserved >= peaks.allocated
    assert device_peaks(lambda: run(128), "cuda").allocated - first == 128 * mebibyte
