"""A jump: newest values that each differ from the level before them, too few for a change point.

With it a change is suspected after its first run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from asv_watch.statistics.change_points import Step
from asv_watch.statistics.rule import MINIMUM_EFFECT

MEDIAN_VARIANCE = math.pi / 2
"""Variance of the median of normal values over that of their mean."""
NOISE_FACTOR = 3.0
"""Standard deviations of the ratio of two values that a difference exceeds."""
LEVEL_VALUES = 10
"""The level before the newest values is the median of at most so many."""


def newest_jump(values: Sequence[float], noise: float, most: int) -> Step | None:
    """Find the newest values that each differ from the level before them, in one direction.

    Args:
        values: Positive values since the last change, under the same conditions.
        noise: Standard deviation of the logarithm of each.
        most: Largest number of newest values to look at.

    Returns:
        The jump as an unconfirmed step, or ``None``.
    """
    for runs in range(min(most, len(values) - 1), 0, -1):
        cut = len(values) - runs
        earlier = values[max(0, cut - LEVEL_VALUES) : cut]
        level = median(earlier)
        newest = values[cut:]
        if level <= 0 or min(newest) <= 0:
            continue
        changes = [math.log(value / level) for value in newest]
        if max(changes) < 0:
            changes = [-change for change in changes]
        of_ratio = noise * math.sqrt(1 + MEDIAN_VARIANCE / len(earlier))
        if min(changes) >= math.log1p(MINIMUM_EFFECT) and min(changes) > NOISE_FACTOR * of_ratio:
            z = changes[-1] / of_ratio if of_ratio else math.inf
            return Step(cut, level, median(newest), z, cut, runs, confirmed=False)
    return None
