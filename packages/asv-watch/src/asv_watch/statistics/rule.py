"""The one rule that decides whether two versions differ, from their measured ratio.

They differ if the interval of the ratio excludes 1 and the ratio is at least `MINIMUM_EFFECT` away
from 1. Everything that colours, counts, gates or reports a change uses this rule.

An exact count differs if it is another number. Peak memory is not judged from one process a side:
it varies from process to process by less than 0.1 % in some cases and by 12 % in others.
"""

import math
from enum import Enum

MINIMUM_EFFECT = 0.015
"""Smallest relative change that counts; a smaller one is not worth an action."""
SMALLEST = math.log1p(MINIMUM_EFFECT)
"""Its logarithm."""

TOO_NOISY = 0.1
"""With a larger smallest detectable change, the answer is "too noisy to tell" instead of
"same"."""


class Verdict(Enum):
    """The answer of the rule."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    """No clear difference: the versions are alike, or noise hides how they differ."""


def verdict(
    ratio: float, interval: tuple[float, float], *, higher_is_better: bool = False
) -> Verdict:
    """Tell whether after is worse than before: slower or larger, or less of a rate."""
    low, high = interval
    if abs(math.log(ratio)) < SMALLEST or low <= 1 <= high:
        return Verdict.SAME
    return judged(is_more=ratio > 1, higher_is_better=higher_is_better)


def judged(*, is_more: bool, higher_is_better: bool) -> Verdict:
    """Tell whether more of a value, or less of it, is worse."""
    return Verdict.BETTER if is_more == higher_is_better else Verdict.WORSE
