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

Stage 2 is in `asv_watch.runs.partition`, stage 3 in `asv_watch.runs.pruning`. 300
values take 4 ms of CPU.

Optimal partitioning: Jackson et al. (2005), doi:10.1109/LSP.2001.838216. The capped cost:
Fearnhead and Rigaill (2019), doi:10.1080/01621459.2017.1385466. Drift and steps:
Romano, Rigaill, Runge and Fearnhead (2022), doi:10.1080/01621459.2021.1909598.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from asv_watch.runs.noise import median_of
from asv_watch.runs.partition import (
    BLOCK,
    Array,
    Block,
    BlockFinder,
    BlockPartition,
    blocks_of,
    partition,
    partition_block,
    partition_blocks,
    scale_of,
)
from asv_watch.runs.pruning import (
    FEWEST_VALUES,
    LevelEstimator,
    prune,
)
from asv_watch.statistics.rule import MINIMUM_EFFECT

CONFIRMING_RUNS = 3
"""This many successive runs must show a recent step before it is confirmed."""

_SETTLED = 30  # values after which a step needs no confirmation any more
_SHIFT = 5  # values by which one more value may move a step
_LARGEST = 1e100  # squares of larger values overflow, and no measurement is that large
_ROUNDING = 1e-9  # relative to a typical value: rounding error of a level of zero
_AT_ONCE = 32  # blocks partitioned together: more at once are no quicker


@dataclass(frozen=True, slots=True)
class Step:
    """A lasting change of level between two neighbouring values of a series."""

    position: int
    """Index of the first value after it."""
    before: float
    """Level just before it, in the unit of the values."""
    after: float
    """Level just after it, in the unit of the values."""
    z: float
    """Difference of the two levels in standard errors, which include drift."""
    values_before: int
    """Values between the step before (or the start) and this one."""
    values_after: int
    """Values between this step and the next (or the end)."""
    confirmed: bool
    """Whether it is certain: it holds against the heaviest drift that explains the series nearly
    as well and, if it is recent, three successive runs have shown it."""

    @property
    def direction(self) -> str:
        """``up`` or ``down``: what happened to the value, good or bad."""
        return "up" if self.after > self.before else "down"


def values_to_confirm() -> int:
    """Return the values that a series needs before a step in it can be confirmed at all."""
    return 2 * FEWEST_VALUES + CONFIRMING_RUNS - 1


def find_steps(
    values: Sequence[float] | Array,
    find_block: BlockFinder = partition_block,
) -> list[Step]:
    """Find the steps of a series.

    Args:
        values: Finite values in commit order, in any unit. If all are positive the
            noise is taken to be proportional to the level, else to be the same all over.
        find_block: Returns what `partition_block` does, perhaps from a cache.

    Returns:
        The steps in order; none for a series too short to tell.
    """
    array = np.asarray(values, dtype=np.float64)
    return _confirm(array, *_find_unconfirmed(array, find_block), find_block)


def _find_unconfirmed(array: Array, find_block: BlockFinder) -> tuple[list[Step], list[Step]]:
    """Return the steps under the likeliest drift, and those under the heaviest."""
    if len(array) < 2 * FEWEST_VALUES or np.abs(array).max() > _LARGEST:
        return [], []
    fit = _fit(array, find_block)
    steps = _steps(fit, fit.likeliest)
    return steps, steps if fit.heaviest == fit.likeliest else _steps(fit, fit.heaviest)


def _confirm(
    array: Array, steps: list[Step], heaviest: list[Step], find_block: BlockFinder
) -> list[Step]:
    """Return the steps under the likeliest drift, with whether each is confirmed."""
    confirmed = _confirmed(array, heaviest, find_block) if steps else []
    return [
        replace(step, confirmed=any(_is_same(step, other) for other in confirmed))
        for step in steps
    ]


def find_all_steps(
    series: Iterable[Sequence[float] | Array],
    known: dict[str, BlockPartition] | None = None,
) -> list[list[Step]]:
    """Find the steps of many series in a quarter of the time that one at a time takes.

    Args:
        series: The values of each.
        known: Maps a digest of a block to its partition, found before; on return it holds those
            that these series needed.
    """
    known = {} if known is None else known
    needed: dict[str, BlockPartition] = {}
    arrays = [np.asarray(values, dtype=np.float64) for values in series]

    def find_block(*block: *Block) -> BlockPartition:
        key = _key(*block)
        needed[key] = known.get(key) or partition_block(*block)
        return needed[key]

    _partition_together(arrays, known)
    unconfirmed = [_find_unconfirmed(array, find_block) for array in arrays]
    _partition_together(
        (
            array[:-left_out]
            for array, (_, heaviest) in zip(arrays, unconfirmed, strict=True)
            if _is_recent(heaviest, array)
            for left_out in range(1, CONFIRMING_RUNS)
        ),
        known,
    )
    confirmed = [
        _confirm(array, *steps, find_block)
        for array, steps in zip(arrays, unconfirmed, strict=True)
    ]
    known.clear()
    known.update(needed)
    return confirmed


def _partition_together(arrays: Iterable[Array], known: dict[str, BlockPartition]) -> None:
    """Partition the blocks of series that are not known yet."""
    blocks = {_key(*block): block for array in arrays for block in _blocks_to_partition(array)}
    keys = sorted(blocks.keys() - known.keys(), key=lambda key: len(blocks[key][0]))
    for first in range(0, len(keys), _AT_ONCE):
        batch = keys[first : first + _AT_ONCE]
        known.update(zip(batch, partition_blocks([blocks[key] for key in batch]), strict=True))


def _key(y: Array, least_variance: float, length: int) -> str:
    content = y.tobytes() + f"{least_variance} {length}".encode()
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _confirmed(values: Array, steps: list[Step], find_block: BlockFinder) -> list[Step]:
    """Return steps under the heaviest drift that were steps one and two values ago, too."""
    if not _is_recent(steps, values):
        return steps
    for left_out in range(1, CONFIRMING_RUNS):
        if len(values) - left_out < 2 * FEWEST_VALUES:
            return []
        earlier_fit = _fit(values[:-left_out], find_block)
        earlier = _steps(earlier_fit, earlier_fit.heaviest)
        steps = [step for step in steps if any(_is_same(step, other) for other in earlier)]
    return steps


def _is_recent(steps: list[Step], values: Array) -> bool:
    """Tell whether the last of steps is so new that it needs confirmation."""
    return bool(steps) and steps[-1].position >= len(values) - _SETTLED


def _is_same(step: Step, other: Step) -> bool:
    return step.direction == other.direction and abs(step.position - other.position) <= _SHIFT


@dataclass(frozen=True, slots=True)
class _Fit:
    """A series on the scale of the model, partitioned."""

    y: Array
    """Logarithms (or values over ``unit``) less ``centre``, over ``scale``."""
    centre: float
    scale: float
    unit: float | None
    """``None`` for logarithms."""
    smallest: float
    """The minimum effect on the scale of y."""
    boundaries: list[int]
    likeliest: int
    """Index of the drift ratio that explains the series best."""
    heaviest: int
    """Index of the largest drift ratio that does so nearly as well."""

    def value(self, level: float) -> float:
        """Bring a level back to the unit of the values."""
        plain = level * self.scale + self.centre
        if self.unit is None:
            return math.exp(plain)
        return plain * self.unit if abs(plain) > _ROUNDING else 0.0


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


def _fit(values: Array, find_block: BlockFinder) -> _Fit:
    plain, unit, smallest = _on_scale(values)
    centre = median_of(plain)
    least = _least_variance(smallest)
    scale = scale_of(plain, least)
    boundaries, likeliest, heaviest = partition(plain, least, find_block)
    return _Fit(
        (plain - centre) / scale,
        centre,
        scale,
        unit,
        smallest / scale,
        boundaries,
        likeliest,
        heaviest,
    )


def _steps(fit: _Fit, choice: int) -> list[Step]:
    """Test the boundaries of a fit under one of the drift ratios."""
    side = LevelEstimator(len(fit.y), choice)
    return [
        Step(
            position=tested.position,
            before=fit.value(tested.before),
            after=fit.value(tested.after),
            z=tested.z,
            values_before=tested.position - tested.start,
            values_after=tested.end - tested.position,
            confirmed=False,
        )
        for tested in prune(fit.y, fit.boundaries, side, fit.smallest)
    ]
