"""Batch sizes that double until one does not fit into memory: the largest and the fastest."""

from __future__ import annotations

from torchspeed.training.limits import usable_bytes
from torchspeed.training.point import Outcome
from torchspeed.training.sweep import MeasuredPoint, Point

SMALLEST = 16
"""Smaller batches leave most devices idle."""


def twice_the_batch(point: Point, outcome: Outcome, room: float | None) -> Point | None:
    """Return the point with twice the batch; None where it is not expected to fit.

    A CPU must not run out of memory to find the limit, because the machine would then end
    processes at random: there twice the peak of this point has to fit, which is more than twice
    the batch needs.

    Args:
        point: that was measured.
        outcome: of the point; after a failure, as for lack of GPU memory, there is no other.
        room: bytes that a process may take; None for 80 % of what is available on a CPU, and for
            all that a GPU has.
    """
    result = outcome.result
    if result is None:
        return None
    limit = usable_bytes() if room is None and result["device_name"] == "cpu" else room
    if limit is not None and 2 * result["peak_memory_bytes"] > limit:
        return None
    return point | {"batch_size": 2 * int(point["batch_size"])}


def best_batch_sizes(outcomes: list[MeasuredPoint]) -> str:
    """Name the largest batch that fits and the one with most items/s."""
    results = [m.outcome.result for m in outcomes if m.outcome.result is not None]
    if not results:
        return "no batch fits"
    largest = max(results, key=lambda result: int(result["config"]["batch_size"]))
    fastest = max(results, key=lambda result: float(result["items_per_s"]))
    return (
        f"largest batch that fits: {largest['config']['batch_size']} "
        f"({largest['peak_memory_bytes'] / 1024**3:.2f} GiB); "
        f"fastest: {fastest['config']['batch_size']} ({fastest['items_per_s']:,.0f} items/s)"
    )
