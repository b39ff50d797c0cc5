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
import itertools
import math
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from asv_watch.runs.noise import median_of
from asv_watch.runs.partition import (
    Array,
    Block,
    BlockPartition,
    blocks_of,
    joined,
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
_AT_ONCE = 64  # blocks partitioned together: 32 take a tenth longer, more are no quicker


class Step(msgspec.Struct, frozen=True):
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


def find_steps(values: Sequence[float] | Array) -> list[Step]:
    """Find the steps of a series.

    Args:
        values: Finite values in commit order, in any unit. If all are positive the
            noise is taken to be proportional to the level, else to be the same all over.

    Returns:
        The steps in order; none for a series too short to tell.
    """
    return find_all_steps([values])[0]


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
    found: list[list[Step]] = []
    certain: list[list[Step]] = []
    for fit in _fits(arrays, known, needed):
        steps = _steps(fit, fit.likeliest) if fit else []
        found.append(steps)
        certain.append(
            _steps(fit, fit.heaviest) if fit and fit.heaviest != fit.likeliest else steps
        )
    recent = [
        (index, left_out)
        for index, array in enumerate(arrays)
        if found[index] and _is_recent(certain[index], array)
        for left_out in range(1, CONFIRMING_RUNS)
    ]
    earlier = _fits([arrays[index][:-left_out] for index, left_out in recent], known, needed)
    for (index, _), fit in zip(recent, earlier, strict=True):
        certain[index] = _among(certain[index], _steps(fit, fit.heaviest) if fit else [])
    known.clear()
    known.update(needed)
    return [
        [msgspec.structs.replace(step, confirmed=bool(_among([step], sure))) for step in steps]
        for steps, sure in zip(found, certain, strict=True)
    ]


def _fits(
    arrays: Sequence[Array], known: dict[str, BlockPartition], needed: dict[str, BlockPartition]
) -> list[_Fit | None]:
    """Fit the model to many series; ``None`` for one that is too short or has too large values.

    Blocks that are not known yet are partitioned together.
    """
    scaled = [
        None
        if len(array) < 2 * FEWEST_VALUES or np.abs(array).max() > _LARGEST
        else _scaled(array)
        for array in arrays
    ]
    blocks = [blocks_of(one.y, one.least_variance) if one else [] for one in scaled]
    keys = [[_key(block) for block in series_blocks] for series_blocks in blocks]
    block_of = dict(zip(itertools.chain(*keys), itertools.chain(*blocks), strict=True))
    missing = sorted(block_of.keys() - known.keys(), key=lambda key: len(block_of[key].y))
    for first in range(0, len(missing), _AT_ONCE):
        batch = missing[first : first + _AT_ONCE]
        known.update(zip(batch, partition_blocks([block_of[key] for key in batch]), strict=True))
    needed.update((key, known[key]) for key in block_of)
    return [
        _fit(one, [known[key] for key in series_keys]) if one else None
        for one, series_keys in zip(scaled, keys, strict=True)
    ]


def _key(block: Block) -> str:
    content = block.y.tobytes() + f"{block.least_variance} {block.length}".encode()
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _is_recent(steps: list[Step], values: Array) -> bool:
    """Tell whether the last of steps is so new that it needs confirmation."""
    return bool(steps) and steps[-1].position >= len(values) - _SETTLED


def _among(steps: list[Step], others: list[Step]) -> list[Step]:
    """Return the steps that are among others too."""
    return [step for step in steps if any(_is_same(step, other) for other in others)]


def _is_same(step: Step, other: Step) -> bool:
    return step.direction == other.direction and abs(step.position - other.position) <= _SHIFT


class _Fit(msgspec.Struct, frozen=True):
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


class _Scaled(msgspec.Struct, frozen=True):
    """A series on the scale of the model, where noise is the same all over."""

    y: Array
    """Logarithms or, where not all values are positive, values over ``unit``."""
    unit: float | None
    """``None`` for logarithms."""
    smallest: float
    """The minimum effect on this scale."""

    @property
    def least_variance(self) -> float:
        """Least variance of differences: exact counts have none, but an effect needs a scale."""
        return 2 * (self.smallest / 15) ** 2


def _scaled(values: Array) -> _Scaled:
    if (values > 0).all():
        return _Scaled(np.log(values), None, math.log1p(MINIMUM_EFFECT))
    unit = median_of(np.abs(values)) or float(np.abs(values).max()) or 1.0
    return _Scaled(values / unit, unit, MINIMUM_EFFECT)


def _fit(scaled: _Scaled, blocks: Sequence[BlockPartition]) -> _Fit:
    centre = median_of(scaled.y)
    scale = scale_of(scaled.y, scaled.least_variance)
    return _Fit(
        (scaled.y - centre) / scale,
        centre,
        scale,
        scaled.unit,
        scaled.smallest / scale,
        *joined(len(scaled.y), blocks),
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
