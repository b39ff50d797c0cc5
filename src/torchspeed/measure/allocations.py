"""How often a pass asks torch's allocators for memory, and for how much in all.

A tensor that is made where it need not be costs a call, a place in the cache, on a GPU
sometimes a wait: this shows it without a clock, and counts what a peak hides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.profiler import ProfilerActivity, profile


@dataclass(frozen=True)
class Allocations:
    """What one pass asked for; what it gave back in between is not subtracted."""

    count: int
    """Blocks."""
    size: int
    """Bytes of them together."""


def allocations(run: Callable[[], object], device: str) -> Allocations:
    """Run a pass twice on ``device`` and count what the second allocates.

    The first makes what stays: packed weights, workspaces. On the CPU these are
    the blocks of tensors, as torch's profiler sees them; what kernels take from ``malloc``
    for themselves is not seen. On CUDA they are the blocks of the caching allocator, and
    most cost no call of the driver.

    Args:
        run: the pass.
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:N"``.
    """
    run()
    return _on_cuda(run, device) if device.startswith("cuda") else _on_cpu(run)


def _on_cpu(run: Callable[[], object]) -> Allocations:
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        run()
    recorded = profiler.profiler
    assert recorded is not None  # noqa: S101 - entering the context made it
    # The public list of events adds sizes up by operator, frees included.
    sizes = [
        event.nbytes()
        for event in recorded.kineto_results.events()
        if event.name() == "[memory]" and event.nbytes() > 0
    ]
    return Allocations(len(sizes), sum(sizes))


def _on_cuda(run: Callable[[], object], device: str) -> Allocations:
    before = torch.cuda.memory_stats(device)
    run()
    after = torch.cuda.memory_stats(device)
    count, size = (
        after[name] - before[name]
        for name in ("allocation.all.allocated", "allocated_bytes.all.allocated")
    )
    return Allocations(count, size)
