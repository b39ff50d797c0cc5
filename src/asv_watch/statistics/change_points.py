"""Change points of a series: lasting changes of its level, apart from noise, spikes and drift.

The model. Logarithms of the values, y_1 ... y_n, are a level that may wander, plus
noise, plus an occasional spike; at a step the level starts anew::

    y_t     = level_t + noise_t       noise_t ~ N(0, s^2), or a spike of any size
    level_t = level_{t-1} + drift_t   drift_t ~ N(0, r s^2), except at a step

Three stages:

1.  *Scale*. First differences have the variance (2 + r) s^2. It is estimated from
    quantiles of their absolute values, which a few steps and spikes do not move.
2.  *Partition*, for each of a few ratios r from none to heavy drift. The cost of a
    segment is minus twice the log-likelihood of this model started afresh at its
    first value: over the innovations e of a Kalman filter with variances S, the sum
    of log S + min(e^2 / S, cap). What lies beyond the cap is taken for a spike and
    does not move the filter. Optimal partitioning finds the segments whose costs,
    plus a penalty per step that grows with log n, are least. A run of capped values
    soon costs more than a new segment: that separates steps from spikes. The ratio
    with the least total, with a penalty on any drift at all, is kept: steps alone
    explain a series unless drift does so clearly better.
3.  *Prune*. At each step the level just before it and just after it, from filters
    that run towards it over the segments on either side, differ by d with the
    variance P_before + P_after + r s^2. With drift only the values nearby count in P,
    so a step has to rise above what drift alone would do. The step with the smallest
    z = |d| / sqrt(variance) among those that miss the wanted z, the minimum effect or
    the fewest values on a side is taken out, its neighbours are tested again, until
    none misses.

A step is *confirmed* when it passes the third stage also with the heaviest drift that
explains the series nearly as well (within a cost of 1.5), and, while one of the steps is
among the 30 newest values, when the series without its last and without its last two
values shows it too. That takes two commits longer; alarms are raised from nothing less.

Stage 2 is in `asv_watch.statistics.partition`. 300 values take 4 ms of CPU.

Optimal partitioning: Jackson et al. (2005), doi:10.1109/LSP.2001.838216. The capped cost:
Fearnhead and Rigaill (2019), doi:10.1080/01621459.2017.1385466. Drift and steps:
Romano, Rigaill, Runge and Fearnhead (2022), doi:10.1080/01621459.2021.1909598.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from asv_watch.statistics.noise import median_of
from asv_watch.statistics.partition import (
    BLOCK,
    DRIFT_RATIOS,
    SPIKE,
    Array,
    Block,
    BlockFinder,
    BlockPartition,
    blocks_of,
    filters,
    partition,
    partition_block,
    partition_blocks,
    scale_of,
)
from asv_watch.statistics.rule import MINIMUM_EFFECT

MINIMUM_Z = 3.7
"""Standard errors by which the levels on the two sides of a step differ at least."""
FEWEST_VALUES = 3
"""Values that a step needs before and after it: it is confirmed by the third run."""
CONFIRMING_RUNS = 3
"""Runs in succession that must show a recent step before it is confirmed."""

_SETTLED = 30  # values after which a step needs no confirmation any more
_SHIFT = 5  # values by which one more value may move a step
_LARGEST = 1e100  # of a value: squares of larger ones overflow, and none is a measurement
_ROUNDING = 1e-9  # of a typical value: what a level of zero may come to
_AT_ONCE = 64  # blocks partitioned together: more at once are no quicker


@dataclass(frozen=True, slots=True)
class Step:
    """A lasting change of level between two neighbouring values of a series."""

    start: int
    """Index of the first value after the step before it, or of the series."""
    position: int
    """Index of the first value after it."""
    end: int
    """Index of the first value after the next step, or the length of the series."""
    before: float
    """Level just before it: in the unit of the values, while it is tested on the model's scale."""
    after: float
    """Level just after it."""
    z: float
    """Difference of the two levels in standard errors, drift allowed for."""
    confirmed: bool = False
    """Whether to raise an alarm about it: it holds even against the heaviest drift that
    explains the series nearly as well, and if it is recent, three runs in succession
    have shown it."""

    @property
    def direction(self) -> str:
        """``up`` or ``down``: what happened to the value, good or bad."""
        return "up" if self.after > self.before else "down"


def find_steps(
    values: Sequence[float] | Array,
    find_block: BlockFinder = partition_block,
) -> list[Step]:
    """Find the steps of a series.

    Args:
        values: Finite values in commit order, in any unit. If all are positive the
            noise is taken to be proportional to the level, else to be the same all over.
        find_block: Gives what `partition_block` does, perhaps known before.

    Returns:
        The steps in order; none for a series too short to tell.
    """
    array = np.asarray(values, dtype=np.float64)
    if len(array) < 2 * FEWEST_VALUES or np.abs(array).max() > _LARGEST:
        return []
    steps_under, likeliest, heaviest = _fit(array, find_block)
    steps = steps_under(likeliest)
    confirmed = _confirmed(array, steps_under(heaviest), find_block) if steps else []
    return [
        replace(step, confirmed=any(_is_same(step, other) for other in confirmed))
        for step in steps
    ]


def find_all_steps(
    series: Iterable[Sequence[float] | Array],
    known: dict[str, BlockPartition] | None = None,
) -> list[list[Step]]:
    """Find the steps of many series, in a quarter of the time of one by one.

    Args:
        series: The values of each.
        known: Partitions of blocks that were found before, by content; afterwards those of the
            blocks of these series.
    """
    known = {} if known is None else known
    arrays = [np.asarray(values, dtype=np.float64) for values in series]
    blocks = {_key(*block): block for array in arrays for block in _blocks_to_partition(array)}
    for key in known.keys() - blocks.keys():
        del known[key]
    keys = sorted(blocks.keys() - known.keys(), key=lambda key: len(blocks[key][0]))
    for first in range(0, len(keys), _AT_ONCE):
        batch = keys[first : first + _AT_ONCE]
        known.update(zip(batch, partition_blocks([blocks[key] for key in batch]), strict=True))

    def find_block(*block: *Block) -> BlockPartition:
        return known.get(_key(*block)) or partition_block(*block)

    return [find_steps(array, find_block) for array in arrays]


def _key(y: Array, least_variance: float, length: int) -> str:
    content = np.append(y, (least_variance, length)).tobytes()
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _confirmed(values: Array, steps: list[Step], find_block: BlockFinder) -> list[Step]:
    """Return those steps under the heaviest drift that one and two values ago were there, too."""
    if not steps or steps[-1].position < len(values) - _SETTLED:
        return steps
    for left_out in range(1, CONFIRMING_RUNS):
        if len(values) - left_out < 2 * FEWEST_VALUES:
            return []
        steps_under, _, heaviest = _fit(values[:-left_out], find_block)
        earlier = steps_under(heaviest)
        steps = [step for step in steps if any(_is_same(step, other) for other in earlier)]
    return steps


def _is_same(step: Step, other: Step) -> bool:
    return step.direction == other.direction and abs(step.position - other.position) <= _SHIFT


def _blocks_to_partition(values: Array) -> list[Block]:
    """Return what `find_steps` asks `partition_block` for at first, for finite values."""
    if len(values) < 2 * FEWEST_VALUES:
        return []
    y, _, smallest = _on_scale(values)
    least = _least_variance(smallest)
    return [(y[part], least, min(len(y), BLOCK)) for part in blocks_of(len(y))]


def _on_scale(values: Array) -> tuple[Array, float | None, float]:
    """Return values on the scale of the model, where noise is the same all over.

    Returns:
        Their logarithms or, where not all are positive, the values over a unit; the unit,
        ``None`` for logarithms; and the minimum effect on this scale.
    """
    if (values > 0).all():
        return np.log(values), None, math.log1p(MINIMUM_EFFECT)
    unit = median_of(np.abs(values)) or float(np.abs(values).max()) or 1.0
    return values / unit, unit, MINIMUM_EFFECT


def _least_variance(smallest: float) -> float:
    """Least variance of differences: exact counts have none, but an effect needs some scale."""
    return 2 * (smallest / 15) ** 2


def _fit(values: Array, find_block: BlockFinder) -> tuple[Callable[[int], list[Step]], int, int]:
    """Partition a series on the scale of the model.

    Returns:
        What gives the steps under a drift ratio, by the ratio's index; the index of the ratio that
        explains the series best, and that of the largest one that does so nearly as well.
    """
    plain, unit, smallest = _on_scale(values)
    centre = median_of(plain)
    least = _least_variance(smallest)
    scale = scale_of(plain, least)
    boundaries, likeliest, heaviest = partition(plain, least, find_block)
    y = (plain - centre) / scale

    def value(level: float) -> float:
        plain_level = level * scale + centre
        if unit is None:
            return math.exp(plain_level)
        return plain_level * unit if abs(plain_level) > _ROUNDING else 0.0

    def steps_under(choice: int) -> list[Step]:
        side = _LevelEstimator(len(y), choice)
        return [
            replace(step, before=value(step.before), after=value(step.after))
            for step in _prune(y, boundaries, side, smallest / scale)
        ]

    return steps_under, likeliest, heaviest


class _LevelEstimator:
    """The level on one side of a boundary, from the values nearest to it."""

    def __init__(self, length: int, choice: int) -> None:
        """Prepare for one ratio of drift to noise."""
        tables = filters()
        noise = float(tables.noise[choice])
        self.drift = float(DRIFT_RATIOS[choice]) * noise
        steady_gain = float(tables.gain[0, choice]) if self.drift else 0.0
        self._weights = (1 - steady_gain) ** np.arange(length)
        self._spread = SPIKE * np.sqrt(noise + self.drift * np.arange(length))
        self._nearby = max(FEWEST_VALUES, math.ceil(2 / steady_gain)) if steady_gain else length
        self._variance = tables.level_variance[:, choice]
        self._noise = noise

    def level(self, nearest_first: Array) -> tuple[float, float]:
        """Estimate the level at the first value, and the variance of the estimate.

        Values far from the median of those nearby are spikes and do not count;
        the others weigh less the further away they are, if there is drift.

        Args:
            nearest_first: The values on this side, the one at the boundary first.
        """
        length = len(nearest_first)
        centre = median_of(nearest_first[: self._nearby])
        near = np.abs(nearest_first - centre) < self._spread[:length]
        counted = int(near.sum())
        if 2 * counted < length:
            near[:] = True
            counted = length
        weights = self._weights[:length] * near
        level = float((weights * nearest_first).sum() / weights.sum())
        if counted <= len(self._variance):
            return level, float(self._variance[counted - 1])
        steady_variance = float(self._variance[-1])
        return level, steady_variance if self.drift else self._noise / counted


def _prune(
    y: Array,
    boundaries: list[int],
    side: _LevelEstimator,
    smallest: float,
) -> list[Step]:
    """Take out boundaries that are too weak, the weakest first, until none is.

    Args:
        y: The series, as it was partitioned.
        boundaries: Positions of the first values after the boundaries.
        side: Estimator of the levels.
        smallest: Smallest difference of levels to keep.
    """

    def test(start: int, position: int, end: int) -> Step:
        towards = slice(position - 1, start - 1 if start else None, -1)
        before, before_variance = side.level(y[towards])
        onwards = slice(position, end)
        after, after_variance = side.level(y[onwards])
        error = math.sqrt(before_variance + after_variance + side.drift)
        return Step(start, position, end, before, after, abs(after - before) / error)

    def misses(tested: Step) -> bool:
        return (
            tested.z < MINIMUM_Z
            or abs(tested.after - tested.before) < smallest
            or min(tested.position - tested.start, tested.end - tested.position) < FEWEST_VALUES
        )

    edges = [0, *boundaries, len(y)]
    tested = [test(*edges[index : index + 3]) for index in range(len(boundaries))]
    while True:
        weak = [
            (candidate.z, index) for index, candidate in enumerate(tested) if misses(candidate)
        ]
        if not weak:
            return tested
        _, index = min(weak)
        removed = tested.pop(index)
        if index > 0:
            left = tested[index - 1]
            tested[index - 1] = test(left.start, left.position, removed.end)
        if index < len(tested):
            right = tested[index]
            tested[index] = test(removed.start, right.position, right.end)
