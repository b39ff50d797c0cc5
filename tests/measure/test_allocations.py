"""Allocations are counted exactly, and a device's by its own allocator."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from torchspeed.measure.allocations import Allocations, allocations
from torchspeed.measure.passes import Passes

COUNT = """
from torchspeed.measure.allocations import allocations
from torchspeed.measure.passes import Passes
passes = Passes("lstnet", "cpu", 8)
print(allocations(passes.forward, "cpu"), allocations(passes.backward, "cpu"))
"""


def test_blocks_and_their_bytes_are_counted_and_what_is_freed_is_not_subtracted() -> None:
    def run() -> None:
        for size in (1000, 20_000):
            torch.empty(size, dtype=torch.uint8)
        torch.empty(10, dtype=torch.float64).view(2, 5)

    assert allocations(run, "cpu") == Allocations(count=3, size=21_080)


def test_two_processes_count_the_same() -> None:
    passes = Passes("lstnet", "cpu", 8)
    here = (allocations(passes.forward, "cpu"), allocations(passes.backward, "cpu"))
    assert here == (allocations(passes.forward, "cpu"), allocations(passes.backward, "cpu"))
    assert here[1].count > here[0].count > 0
    there = subprocess.run(
        [sys.executable, "-c", COUNT], capture_output=True, text=True, check=True
    )
    assert there.stdout.strip() == f"{here[0]} {here[1]}"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device")
def test_a_pass_of_known_allocations_on_a_device() -> None:
    def run() -> None:
        torch.empty(2**20, dtype=torch.uint8, device="cuda")
        torch.empty(2**21, dtype=torch.uint8, device="cuda")

    assert allocations(run, "cuda") == Allocations(2, 3 * 2**20)
