"""Test of the boundaries between segments: which are steps.

The third stage of `asv_watch.runs.change_points`, where the model is described.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from asv_watch.runs.noise import median_of
from asv_watch.runs.partition import DRIFT_RATIOS, SPIKE, Array, filters

MINIMUM_Z = 3.7
"""Smallest difference of the levels on the two sides of a step, in standard errors."""
FEWEST_VALUES = 3
"""Values that a step needs before and after it: it is confirmed by the third run."""


class TestedBoundary(msgspec.Struct, frozen=True):
    """A boundary between two segments, and how the levels on its sides differ."""

    start: int
    """Index of the first value of the segment before it."""
    position: int
    """Index of the first value after it."""
    end: int
    """Index after the last value of the segment after it."""
    before: float
    """Level just before it, on the scale of the series that was partitioned."""
    after: float
    """Level just after it, on the same scale."""
    z: float
    """Difference of the two levels in standard errors."""


class LevelEstimator:
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
        counted = int(np.count_nonzero(near))
        if 2 * counted < length:
            near[:] = True
            counted = length
        weights = self._weights[:length] * near
        level = float(weights @ nearest_first / weights.sum())
        if counted <= len(self._variance):
            return level, float(self._variance[counted - 1])
        steady_variance = float(self._variance[-1])
        return level, steady_variance if self.drift else self._noise / counted


def prune(
    y: Array,
    boundaries: list[int],
    side: LevelEstimator,
    smallest: float,
) -> list[TestedBoundary]:
    """Take out boundaries that are too weak, the weakest first, until none is.

    Args:
        y: The series, as it was partitioned.
        boundaries: Positions of the first values after the boundaries.
        side: Estimator of the levels.
        smallest: Smallest difference of levels to keep.
    """

    def test(start: int, position: int, end: int) -> TestedBoundary:
        towards = slice(position - 1, start - 1 if start else None, -1)
        before, before_variance = side.level(y[towards])
        onwards = slice(position, end)
        after, after_variance = side.level(y[onwards])
        error = math.sqrt(before_variance + after_variance + side.drift)
        return TestedBoundary(start, position, end, before, after, abs(after - before) / error)

    def misses(tested: TestedBoundary) -> bool:
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
