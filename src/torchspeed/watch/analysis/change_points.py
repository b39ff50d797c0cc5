"""Where a series of figures changed for good: steps, told from noise, spikes and drift.

The model. Logarithms of the figures, y_1 ... y_n, are a level that may wander, plus
noise, plus now and then a spike; at a step the level starts anew::

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
    soon costs more than a new segment: that tells a step from a spike. The ratio
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

The filter's variances depend on a segment's length alone, so the filters of all
possible starts and all ratios advance together: O(n^2) time, O(n) memory, 4 ms of CPU
for 300 figures. Longer series are partitioned in overlapping blocks, in O(n).

Optimal partitioning: Jackson et al. (2005), doi:10.1109/LSP.2001.838216. The capped cost:
Fearnhead and Rigaill (2019), doi:10.1080/01621459.2017.1385466. Drift beside steps:
Romano, Rigaill, Runge and Fearnhead (2022), doi:10.1080/01621459.2021.1909598.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from torchspeed.watch.analysis.noise import difference_variance
from torchspeed.watch.analysis.rule import MINIMUM_EFFECT

Array = npt.NDArray[np.float64]

MINIMUM_Z = 3.7
"""Standard errors by which the levels on the two sides of a step differ at least."""
FEWEST_VALUES = 3
"""Values that a step needs before and after it: it is confirmed by the third run."""

CONFIRMING_RUNS = 3
"""Runs in succession that must show a recent step before it is confirmed."""

_DRIFT_RATIOS = np.array([0.0, 0.003, 0.01, 0.03, 0.1, 0.3])
_STEP_PENALTY = 2.5  # times log n, of a cost that is minus twice a log-likelihood
_DRIFT_PENALTY = 0.5  # times log n
_SPIKE = 3.0  # standard deviations of an innovation, beyond which a value is a spike
_SETTLED = 30  # values after which a step needs no confirmation any more
_NEARLY_AS_LIKELY = 1.5  # added cost, at which a heavier drift is still allowed for
_SHIFT = 5  # values by which one more figure may move a step
_LARGEST = 1e100  # of a value: squares of larger ones overflow, and none is a measurement
_ROUNDING = 1e-9  # of a typical figure: what a level of zero may come to
_BLOCK = 300  # values partitioned at once
_MARGIN = 50  # values at an inner end of a block whose boundaries its neighbour finds


@dataclass(frozen=True, slots=True)
class Step:
    """A lasting change of level between two neighbouring values of a series."""

    position: int
    """Index of the first value after it."""
    before: float
    """Level just before it, in the unit of the values."""
    after: float
    """Level just after it."""
    z: float
    """Difference of the two levels in standard errors, drift allowed for."""
    values_before: int
    """Values between the step before (or the start) and this one."""
    values_after: int
    """Values between this step and the next (or the end)."""
    confirmed: bool
    """Whether to raise an alarm about it: it holds even against the heaviest drift that
    explains the series nearly as well, and if it is recent, three runs in succession
    have shown it."""

    @property
    def ratio(self) -> float:
        """Level after over level before; infinite or NaN if that was zero."""
        if self.before == 0:
            return math.copysign(math.inf, self.after) if self.after else math.nan
        return self.after / self.before

    @property
    def change(self) -> float:
        """Relative change: 0.05 for 5 % more than before."""
        return self.ratio - 1

    @property
    def direction(self) -> str:
        """``up`` or ``down``: what happened to the figure, good or bad."""
        return "up" if self.after > self.before else "down"


def values_to_confirm() -> int:
    """Values that a series needs before a step in it can be confirmed at all."""
    return 2 * FEWEST_VALUES + CONFIRMING_RUNS - 1


def smallest_visible(
    noise: float, figures: int, minimum_effect: float = MINIMUM_EFFECT
) -> float | None:
    """Tell how large a recent step has to be to be found: what silence about a series means.

    Args:
        noise: Coefficient of variation between runs, as ``noise_between_runs`` gives it.
        figures: Length of the series.
        minimum_effect: Smallest relative change to report.

    Returns:
        The relative change of a step that has only just been confirmed, and that stands
        out by ``MINIMUM_Z`` standard errors where there is no drift; ``None`` for a
        series too short to show any.
    """
    if figures < values_to_confirm():
        return None
    after = FEWEST_VALUES + CONFIRMING_RUNS - 1
    error = noise * math.sqrt(1 / (figures - after) + 1 / after)
    return max(math.expm1(MINIMUM_Z * error), minimum_effect)


def find_steps(values: Sequence[float], minimum_effect: float = MINIMUM_EFFECT) -> list[Step]:
    """Find the steps of a series.

    Args:
        values: Finite figures in commit order, in any unit. If all are positive the
            noise is taken to be proportional to the level, else to be the same all over.
        minimum_effect: Smallest relative change to report.

    Returns:
        The steps in order; none for a series too short to tell.

    Raises:
        ValueError: A value is not finite.
    """
    figures = np.asarray(values, dtype=np.float64)
    if not np.isfinite(figures).all():
        raise ValueError("values must be finite: leave out what was not measured")
    if len(figures) < 2 * FEWEST_VALUES or np.abs(figures).max() > _LARGEST:
        return []
    fit = _fit(figures, minimum_effect)
    steps = _steps(fit, fit.likeliest)
    confirmed = _confirmed(figures, fit, minimum_effect) if steps else []
    return [
        replace(step, confirmed=any(_is_same(step, other) for other in confirmed))
        for step in steps
    ]


def _confirmed(figures: Array, fit: _Fit, minimum_effect: float) -> list[Step]:
    """Steps that hold against the heaviest drift, and did so two and one values ago."""
    steps = _steps(fit, fit.heaviest)
    if not steps or steps[-1].position < len(figures) - _SETTLED:
        return steps
    for left_out in range(1, CONFIRMING_RUNS):
        if len(figures) - left_out < 2 * FEWEST_VALUES:
            return []
        earlier_fit = _fit(figures[:-left_out], minimum_effect)
        earlier = _steps(earlier_fit, earlier_fit.heaviest)
        steps = [step for step in steps if any(_is_same(step, other) for other in earlier)]
    return steps


def _is_same(step: Step, other: Step) -> bool:
    return step.direction == other.direction and abs(step.position - other.position) <= _SHIFT


@dataclass(frozen=True, slots=True)
class _Fit:
    """A series on the scale of the model, partitioned."""

    y: Array
    """Logarithms (or figures over ``unit``) less ``centre``, over ``scale``."""
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

    def figure(self, level: float) -> float:
        """Bring a level back to the unit of the figures."""
        plain = level * self.scale + self.centre
        if self.unit is None:
            return math.exp(plain)
        return plain * self.unit if abs(plain) > _ROUNDING else 0.0


def _fit(figures: Array, minimum_effect: float) -> _Fit:
    if (figures > 0).all():
        unit = None
        y = np.log(figures)
        smallest = math.log1p(minimum_effect)
    else:
        unit = float(np.median(np.abs(figures))) or float(np.abs(figures).max()) or 1.0
        y = figures / unit
        smallest = minimum_effect
    centre = float(np.median(y))
    # Counts that repeat exactly have no noise; an effect needs some scale to be seen on.
    scale = math.sqrt(max(difference_variance(y), 2 * (smallest / 15) ** 2))
    y = (y - centre) / scale
    boundaries, likeliest, heaviest = _partition(y)
    return _Fit(y, centre, scale, unit, smallest / scale, boundaries, likeliest, heaviest)


def _steps(fit: _Fit, choice: int) -> list[Step]:
    """Test the boundaries of a fit under one of the drift ratios."""
    return [
        Step(
            position=tested.position,
            before=fit.figure(tested.before),
            after=fit.figure(tested.after),
            z=tested.z,
            values_before=tested.position - tested.start,
            values_after=tested.end - tested.position,
            confirmed=False,
        )
        for tested in _prune(fit.y, fit.boundaries, _Side(len(fit.y), choice), fit.smallest)
    ]


@dataclass(frozen=True, slots=True)
class _Tested:
    """A boundary between two segments, and how the levels on its sides differ."""

    start: int
    position: int
    end: int
    before: float
    after: float
    z: float


@dataclass(frozen=True, slots=True)
class _Filters:
    """The Kalman filter's variances by the number of values seen, for each drift ratio.

    In units of the variance of first differences. Arrays are (values seen, ratios),
    the longest first, so that the filters of all starts are a slice.
    """

    gain: Array
    precision: Array
    log_variance: Array
    level_variance: Array
    noise: Array
    """s^2 of each ratio."""


@lru_cache(maxsize=8)
def _filters(length: int) -> _Filters:
    noise = 1 / (2 + _DRIFT_RATIOS)
    drift = _DRIFT_RATIOS * noise
    level = noise
    gains, variances, levels = [], [], []
    for _ in range(length):
        levels.append(level)
        variance = level + drift + noise
        gain = (level + drift) / variance
        gains.append(gain)
        variances.append(variance)
        level = (1 - gain) * (level + drift)
    variance_table = np.array(variances[::-1])
    return _Filters(
        gain=np.array(gains[::-1]),
        precision=1 / variance_table,
        log_variance=np.log(2 * variance_table),
        level_variance=np.array(levels),
        noise=noise,
    )


def _partition(y: Array) -> tuple[list[int], int, int]:
    """Partition a series.

    Returns:
        The best boundaries, the index of the drift ratio that explains the series best,
        and that of the largest one that does so nearly as well.
    """
    length = len(y)
    penalty = _STEP_PENALTY * math.log(length)
    choices = len(_DRIFT_RATIOS)
    boundaries: list[list[int]] = [[] for _ in range(choices)]
    costs = _DRIFT_PENALTY * math.log(length) * (_DRIFT_RATIOS > 0)
    start = 0
    while True:
        end = min(length, start + _BLOCK)
        block, cost = _partition_block(y[start:end], penalty)
        low = start + _MARGIN if start else 0
        high = end - _MARGIN if end < length else length
        for choice in range(choices):
            boundaries[choice] += [start + b for b in block[choice] if low <= start + b < high]
        costs = costs + cost
        if end == length:
            break
        start = end - 2 * _MARGIN
    likeliest = int(np.argmin(costs))
    heaviest = int(np.flatnonzero(costs <= costs[likeliest] + _NEARLY_AS_LIKELY)[-1])
    return boundaries[likeliest], likeliest, heaviest


def _partition_block(y: Array, penalty: float) -> tuple[list[list[int]], Array]:
    """Optimal partitioning of a block for all drift ratios at once.

    Returns:
        The boundaries and the least cost, for each ratio.
    """
    length, choices = len(y), len(_DRIFT_RATIOS)
    filters = _filters(_BLOCK)
    gain, precision = filters.gain, filters.precision
    log_variance, longest = filters.log_variance, len(filters.gain)
    cap = _SPIKE**2
    # Rows are the starts of the last segment: the filter's level, and the least cost
    # of everything up to here when the last segment starts there.
    level = np.empty((length, choices))
    cost = np.empty((length, choices))
    error_buffer = np.empty((length, choices))
    square_buffer = np.empty((length, choices))
    near_buffer = np.empty((length, choices), dtype=bool)
    best: Array = np.zeros(choices)
    best_start = np.zeros((length + 1, choices), dtype=np.intp)
    every = np.arange(choices)
    for now in range(length):
        if now:
            seen = slice(longest - now, longest)
            error, square, near = error_buffer[:now], square_buffer[:now], near_buffer[:now]
            np.subtract(y[now], level[:now], out=error)
            np.multiply(error, error, out=square)
            square *= precision[seen]
            np.less(square, cap, out=near)
            np.minimum(square, cap, out=square)
            square += log_variance[seen]
            cost[:now] += square
            error *= gain[seen]
            error *= near
            level[:now] += error
        level[now] = y[now]
        cost[now] = best + penalty
        start = cost[: now + 1].argmin(axis=0)
        best_start[now + 1] = start
        best = cost[start, every]
    return [_trace(best_start[:, choice].tolist()) for choice in range(choices)], best


def _trace(best_start: list[int]) -> list[int]:
    """Follow the best starts back from the end: the boundaries, in order."""
    boundaries = []
    position = best_start[-1]
    while position > 0:
        boundaries.append(position)
        position = best_start[position]
    return boundaries[::-1]


class _Side:
    """The level on one side of a boundary, from the values nearest to it."""

    def __init__(self, length: int, choice: int) -> None:
        filters = _filters(_BLOCK)
        noise = float(filters.noise[choice])
        self.drift = float(_DRIFT_RATIOS[choice]) * noise
        settled = float(filters.gain[0, choice]) if self.drift else 0.0
        self._weights = (1 - settled) ** np.arange(length)
        self._spread = _SPIKE * np.sqrt(noise + self.drift * np.arange(length))
        self._nearby = max(FEWEST_VALUES, math.ceil(2 / settled)) if settled else length
        self._variance = filters.level_variance[:, choice]
        self._noise = noise

    def level(self, nearest_first: Array) -> tuple[float, float]:
        """Estimate the level at the first value, and the variance of the estimate.

        Values far from the median of those nearby are spikes and do not count;
        the others weigh less the further away they are, if there is drift.
        """
        length = len(nearest_first)
        centre = np.median(nearest_first[: self._nearby])
        near = np.abs(nearest_first - centre) < self._spread[:length]
        counted = int(near.sum())
        if 2 * counted < length:
            near[:] = True
            counted = length
        weights = self._weights[:length] * near
        level = float((weights * nearest_first).sum() / weights.sum())
        if counted <= len(self._variance):
            return level, float(self._variance[counted - 1])
        settled = float(self._variance[-1])
        return level, settled if self.drift else self._noise / counted


def _prune(y: Array, boundaries: list[int], side: _Side, smallest: float) -> list[_Tested]:
    """Take out boundaries that are too weak, the weakest first, until none is."""

    def test(start: int, position: int, end: int) -> _Tested:
        before, before_variance = side.level(y[start:position][::-1])
        after, after_variance = side.level(y[position:end])
        error = math.sqrt(before_variance + after_variance + side.drift)
        return _Tested(start, position, end, before, after, abs(after - before) / error)

    def misses(tested: _Tested) -> bool:
        return (
            tested.z < MINIMUM_Z
            or abs(tested.after - tested.before) < smallest
            or min(tested.position - tested.start, tested.end - tested.position) < FEWEST_VALUES
        )

    edges = [0, *boundaries, len(y)]
    tested = [test(*edges[place : place + 3]) for place in range(len(boundaries))]
    while True:
        weak = [
            (candidate.z, place) for place, candidate in enumerate(tested) if misses(candidate)
        ]
        if not weak:
            return tested
        _, place = min(weak)
        removed = tested.pop(place)
        if place > 0:
            left = tested[place - 1]
            tested[place - 1] = test(left.start, left.position, removed.end)
        if place < len(tested):
            right = tested[place]
            tested[place] = test(removed.start, right.position, right.end)
