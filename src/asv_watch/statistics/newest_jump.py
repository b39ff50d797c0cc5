"""A jump: newest values that each differ from the level before them, too few for a change point.

With it a change is suspected after its first run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from asv_watch.statistics.change_points import Step
from asv_watch.statistics.rule import Measurement, Verdict, judge

MEDIAN_VARIANCE = math.pi / 2
"""Variance of the median of normal values over that of their mean."""
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
        before = Measurement(level, None, noise * math.sqrt(MEDIAN_VARIANCE / len(earlier)))
        judgements = [judge(before, Measurement(value, None, noise)) for value in values[cut:]]
        verdicts = {judgement.verdict for judgement in judgements}
        if len(verdicts) == 1 and Verdict.SAME not in verdicts:
            z = min(math.inf, judgements[-1].multiple or 0.0)
            return Step(cut, level, median(values[cut:]), z, cut, runs, confirmed=False)
    return None
