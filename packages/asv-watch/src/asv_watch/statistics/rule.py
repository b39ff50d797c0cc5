"""The one rule that decides whether two versions differ, from their measured ratio.

They differ if the interval of the ratio excludes 1 and the ratio is at least `MINIMUM_EFFECT` away
from 1. Everything that colours, counts, gates or reports a change uses this rule.

An exact count differs if it is another number. Peak memory is not judged from one process a side:
it varies from process to process by less than 0.1 % in some cases and by 12 % in others.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple, Protocol

MINIMUM_EFFECT = 0.015
"""Smallest relative change that counts; a smaller one is not worth an action."""

TOO_NOISY = 0.1
"""With a larger smallest detectable change, the answer is "too noisy to tell" instead of
"same"."""


class Verdict(Enum):
    """The answer of the rule."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    """No clear difference: the versions are alike, or noise hides how they differ."""


class Ratio(Protocol):
    """A ratio with its interval, such as a stored `Ratio`."""

    @property
    def ratio(self) -> float:
        """After over before: above 1 is slower."""

    @property
    def interval(self) -> tuple[float, float]:
        """Confidence interval of the ratio."""

    @property
    def higher_is_better(self) -> bool:
        """Whether more of the value is better, as with a rate."""


class MeasuredRatio(NamedTuple):
    """A ratio with its interval and its direction, and nothing else."""

    ratio: float
    interval: tuple[float, float]
    higher_is_better: bool = False


def is_too_noisy(ratio: Ratio) -> bool:
    """Tell whether no difference was found although one of `TOO_NOISY` might not have shown."""
    low, high = ratio.interval
    is_wide = low < high and math.log(high / low) > 2 * math.log1p(TOO_NOISY)
    return is_wide and verdict(ratio) is Verdict.SAME


def verdict(ratio: Ratio) -> Verdict:
    """Tell whether after is worse than before: slower or larger, or less of a rate."""
    low, high = ratio.interval
    if abs(math.log(ratio.ratio)) < math.log1p(MINIMUM_EFFECT) or low <= 1 <= high:
        return Verdict.SAME
    return judged(is_more=ratio.ratio > 1, higher_is_better=ratio.higher_is_better)


def judged(*, is_more: bool, higher_is_better: bool) -> Verdict:
    """Tell whether more of a value, or less of it, is worse."""
    return Verdict.BETTER if is_more == higher_is_better else Verdict.WORSE
