"""Batch sizes that double until one does not fit into memory: the largest and the fastest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchspeed.training.limits import usable_bytes
from torchspeed.training.sweep import MeasuredPoint, Sweep, grid

SMALLEST = 16
"""Smaller batches leave most devices idle."""


def doubling(runs: Sweep, axes: dict[str, list[Any]], room: float | None) -> Iterator[Any]:
    """For each combination of the other settings, points with twice the batch of the one before.

    A series ends with the first point that fails, for example for lack of GPU memory, or before
    the first point that is expected to need more than ``room``. A CPU must not run out of memory
    to find the limit, because the machine would then end processes at random.

    Args:
        runs: measures each point before the next is asked for.
        axes: choices of each setting; those of ``batch_size`` are replaced.
        room: bytes that a process may take; None for 80 % of what is available on a CPU, and for
            all that a GPU has.
    """
    for others in grid(axes | {"batch_size": [SMALLEST]}):
        size, peaks = SMALLEST, [0]
        while True:
            point = others | {"batch_size": size}
            yield point
            result = runs.outcome_of(point).result
            if result is None:
                break
            limit = usable_bytes() if room is None and result["device_name"] == "cpu" else room
            peaks.append(result["peak_memory_bytes"])
            growth = peaks[-1] - peaks[-2] if size > SMALLEST else 0
            if limit is not None and peaks[-1] + 2 * growth > limit:
                break
            size *= 2


def best_batch_sizes(outcomes: list[MeasuredPoint]) -> str:
    """Name the largest batch that fits and the one with most items/s."""
    results = [outcome.result for outcome in outcomes if outcome.result is not None]
    if not results:
        return "no batch fits"
    largest = max(results, key=lambda result: int(result["config"]["batch_size"]))
    fastest = max(results, key=lambda result: float(result["items_per_s"]))
    return (
        f"largest batch that fits: {largest['config']['batch_size']} "
        f"({largest['peak_memory_bytes'] / 1024**3:.2f} GiB); "
        f"fastest: {fastest['config']['batch_size']} ({fastest['items_per_s']:,.0f} items/s)"
    )
