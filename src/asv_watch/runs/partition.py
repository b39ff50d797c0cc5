"""Partition of a series into segments with a common, perhaps drifting, level.

The second stage of `asv_watch.runs.change_points`, where the model is described:
optimal partitioning over the innovations of a Kalman filter, for a few ratios of drift to noise
at once.

The filter's variances depend on a segment's length alone, so the filters of all possible starts
and all ratios advance together with variances from a table, in O(n^2) time and O(n) memory; longer
series are partitioned in overlapping blocks, in O(n). Only a block's own values, on their own
scale, decide its partition, so blocks of many series are partitioned together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from asv_watch.runs.noise import median_of, variance_of_differences

Array = npt.NDArray[np.float64]

DRIFT_RATIOS = np.array([0.0, 0.003, 0.01, 0.03, 0.1, 0.3])
"""Variance of the drift between two values over the variance of the noise."""
SPIKE = 3.0
"""An innovation beyond this many standard deviations is a spike."""
BLOCK = 300
"""Values partitioned at once."""
_STEP_PENALTY = 2.5  # times log n, of a cost that is minus twice a log-likelihood
_DRIFT_PENALTY = 0.5  # times log n
_NEARLY_AS_LIKELY = 1.5  # added cost up to which a heavier drift is still considered
_SMALL = np.float32
"""Costs need no more than its seven digits, and half of the memory takes half of the time."""
_MARGIN = 50  # values at an inner end of a block whose boundaries its neighbour finds


class Filters(msgspec.Struct, frozen=True):
    """The Kalman filter's variances by the number of values seen, for each drift ratio.

    In units of the variance of first differences. Arrays are (values seen, ratios),
    the longest first, so that the filters of all starts are a slice.
    """

    gain: Array
    precision: Array
    log_variance: Array
    level_variance: Array
    noise: Array
    """Variance of the noise of each ratio."""


@cache
def filters() -> Filters:
    """Tabulate the filters for segments of up to `BLOCK` values."""
    noise = 1 / (2 + DRIFT_RATIOS)
    drift = DRIFT_RATIOS * noise
    level = noise
    gains, variances, levels = [], [], []
    for _ in range(BLOCK):
        levels.append(level)
        variance = level + drift + noise
        gain = (level + drift) / variance
        gains.append(gain)
        variances.append(variance)
        level = (1 - gain) * (level + drift)
    variance_table = np.array(variances[::-1])
    return Filters(
        gain=np.array(gains[::-1]),
        precision=1 / variance_table,
        log_variance=np.log(2 * variance_table),
        level_variance=np.array(levels),
        noise=noise,
    )


class BlockPartition(msgspec.Struct, frozen=True):
    """The best partition of a block for each drift ratio."""

    boundaries: list[list[int]]
    costs: list[float]


def blocks_of(y: Array, least_variance: float) -> list[Block]:
    """Return the blocks of a series; neighbours overlap."""
    length = min(len(y), BLOCK)
    return [Block(y[part], least_variance, length) for part in _parts(len(y))]


def _parts(length: int) -> list[slice]:
    starts = [0]
    while starts[-1] + BLOCK < length:
        starts.append(starts[-1] + BLOCK - 2 * _MARGIN)
    return [slice(start, min(length, start + BLOCK)) for start in starts]


def scale_of(y: Array, least_variance: float) -> float:
    """Return the standard deviation of first differences, ignoring steps and spikes."""
    return math.sqrt(max(variance_of_differences(np.abs(np.diff(y))), least_variance))


class Block(NamedTuple):
    """A block of a series, and what else decides its partition."""

    y: Array
    """Its values, at most `BLOCK`."""
    least_variance: float
    """Lower bound of the variance of first differences."""
    length: int
    """Length of the series; lengths above `BLOCK` count as `BLOCK`."""


def partition_blocks(blocks: Sequence[Block]) -> list[BlockPartition]:
    """Partition several blocks; similar lengths are quicker."""
    longest_first = sorted(range(len(blocks)), key=lambda index: -len(blocks[index][0]))
    in_order = [blocks[index] for index in longest_first]
    partitioned = _partition_blocks(
        [(y - median_of(y)) / scale_of(y, least) for y, least, _ in in_order],
        np.array([_STEP_PENALTY * math.log(length) for _, _, length in in_order], _SMALL),
    )
    return [block for _, block in sorted(zip(longest_first, partitioned, strict=True))]


def joined(length: int, blocks: Sequence[BlockPartition]) -> tuple[list[int], int, int]:
    """Join the partitions of a series' blocks.

    Args:
        length: Length of the series.
        blocks: Partitions of its blocks, in order.

    Returns:
        The best boundaries, the index of the drift ratio that explains the series best,
        and that of the largest one that does so nearly as well.
    """
    choices = range(len(DRIFT_RATIOS))
    boundaries: list[list[int]] = [[] for _ in choices]
    costs = _DRIFT_PENALTY * math.log(min(length, BLOCK)) * (DRIFT_RATIOS > 0)
    for part, block in zip(_parts(length), blocks, strict=True):
        low = part.start + _MARGIN if part.start else 0
        high = part.stop - _MARGIN if part.stop < length else length
        for choice in choices:
            positions = (part.start + boundary for boundary in block.boundaries[choice])
            boundaries[choice] += [position for position in positions if low <= position < high]
        costs = costs + np.array(block.costs)
    likeliest = int(np.argmin(costs))
    heaviest = int(np.flatnonzero(costs <= costs[likeliest] + _NEARLY_AS_LIKELY)[-1])
    return boundaries[likeliest], likeliest, heaviest


def _partition_blocks(
    blocks: Sequence[Array], penalties: npt.NDArray[np.float32]
) -> list[BlockPartition]:
    """Optimal partitioning of blocks, the longest first, for all drift ratios at once."""
    lengths = [len(y) for y in blocks]
    count, choices, longest = len(blocks), len(DRIFT_RATIOS), lengths[0]
    values = np.zeros((longest, count), _SMALL)
    for index, y in enumerate(blocks):
        values[: len(y), index] = y
    cap = SPIKE**2
    tables = filters()
    # Repeated for each block once: broadcasting them each time takes a fifth longer.
    gains, precisions, log_variances = (
        np.repeat(table[:, :, np.newaxis].astype(_SMALL), count, axis=2)
        for table in (tables.gain, tables.precision, tables.log_variance)
    )
    # The first axis is the starts of the last segment: the filter's level, and the least cost
    # of everything up to here when the last segment starts there. The last axis is the blocks, so
    # that what is computed at once is contiguous.
    shape = (longest, choices, count)
    level, cost, error_buffer, square_buffer = (np.empty(shape, _SMALL) for _ in range(4))
    near_buffer = np.empty(shape, dtype=bool)
    best: npt.NDArray[np.float32] = np.zeros((choices, count), _SMALL)
    best_start = np.zeros((longest + 1, choices, count), dtype=np.intp)
    for now in range(longest):
        while lengths[count - 1] <= now:
            count -= 1
        newest = values[now, :count]
        if now:
            earlier = (slice(now), slice(None), slice(count))
            error, square, near = (
                error_buffer[earlier],
                square_buffer[earlier],
                near_buffer[earlier],
            )
            np.subtract(newest, level[earlier], out=error)
            np.multiply(error, error, out=square)
            square *= precisions[-now:, :, :count]
            np.less(square, cap, out=near)
            np.minimum(square, cap, out=square)
            square += log_variances[-now:, :, :count]
            cost[earlier] += square
            error *= gains[-now:, :, :count]
            error *= near
            level[earlier] += error
        level[now, :, :count] = newest
        cost[now, :, :count] = best[:, :count] + penalties[:count]
        costs, is_least = cost[: now + 1, :, :count], near_buffer[: now + 1, :, :count]
        best[:, :count] = costs.min(axis=0)
        np.equal(costs, best[:, :count], out=is_least)
        best_start[now + 1, :, :count] = is_least.argmax(axis=0)  # `costs.argmin` copies costs
    return [
        BlockPartition(
            [
                _trace(best_start[: length + 1, choice, index].tolist())
                for choice in range(choices)
            ],
            best[:, index].tolist(),
        )
        for index, length in enumerate(lengths)
    ]


def _trace(best_start: list[int]) -> list[int]:
    """Follow the best starts back from the end: the boundaries, in order."""
    boundaries = []
    position = best_start[-1]
    while position > 0:
        boundaries.append(position)
        position = best_start[position]
    return boundaries[::-1]
