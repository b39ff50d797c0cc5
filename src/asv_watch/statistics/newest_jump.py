"""A jump: newest values that each differ from the level before them, too few for a change point.

With it a change is reported after its first run. Runs and the ratios to the reference are searched
by the same function.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median

from asv_watch.statistics.change_points import Step
from asv_watch.statistics.rule import Measurement, Verdict, judge

MEDIAN_VARIANCE = math.pi / 2
"""Variance of the median of normal values over that of their mean."""
LEVEL_VALUES = 10
"""The level before the newest values is the median of at most so many."""


def newest_jump(
    values: Sequence[float], variances: Sequence[float], shared: Sequence[float], most: int
) -> Step | None:
    """Find the newest values that each differ from the level before them, in one direction.

    Args:
        values: Positive values since the last change, under the same conditions.
        variances: Variance of the logarithm of each.
        shared: Variance of the error that each value shares with every value that has the same
            number here. Between two values, only the difference of their two numbers counts.
        most: Largest number of newest values to look at.

    Returns:
        The jump as an unconfirmed step, or ``None``.
    """
    for runs in range(min(most, len(values) - 1), 0, -1):
        cut = len(values) - runs
        earlier = slice(max(0, cut - LEVEL_VALUES), cut)
        level = median(values[earlier])
        of_level = MEDIAN_VARIANCE * fmean(variances[earlier]) / len(values[earlier])
        verdicts = set()
        for value, variance, common in zip(
            values[cut:], variances[cut:], shared[cut:], strict=True
        ):
            error = math.sqrt(of_level + abs(common - fmean(shared[earlier])))
            before = Measurement(level, None, error)
            judgement = judge(before, Measurement(value, None, math.sqrt(variance)))
            verdicts.add(judgement.verdict)
        if len(verdicts) == 1 and Verdict.SAME not in verdicts:
            z = min(math.inf, judgement.multiple or 0.0)
            return Step(cut, level, median(values[cut:]), z, cut, runs, confirmed=False)
    return None
