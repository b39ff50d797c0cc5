"""The one rule that decides whether two versions differ, and when that needs no more rounds.

They differ if the interval of the ratio excludes 1 and the ratio is at least `MINIMUM_EFFECT` away
from 1. Everything that colours, counts, gates or reports a change uses this rule.

An exact count differs if it is another number. Peak memory is not judged from one process a side:
it varies from process to process by less than 0.1 % in some cases and by 12 % in others.

Comparisons, gates, bisections and nights stop by one rule too. Its numbers are logarithms: +3 % is
0.0296. A ratio is ``difference`` away from 1, ``half`` is half the width of its 99 % interval, and
`answer` knows three answers to "is there a change of this size?". By hand, for a change of 5 %
(0.0488) and a difference that counts from 1.5 % (0.0149):

- **different**, if the difference counts, and an interval with the allowed error excludes 1. With
  16 rounds Student's factor is 2.95 at 99 % and 4.67 at an error of 3 in 20,000 a side, so the
  half is 1.59 times as wide: 4 % ± 2.4 % is different, 4 % ± 2.5 % is not yet.
- **same**, if the rule finds no change (the difference does not count, or the 99 % interval
  contains 1), and the interval contains no change of that size: 1 % ± 3.8 % is the same.
- **unknown** otherwise; more rounds may tell.

Whoever asks after every round allows a smaller error than 0.5 % a side, because each look is
another chance to be wrong. A comparison on an idle machine never asks: it wants to know the size
of a ratio, so it stops when the interval `is_precise`, whatever the ratio is.
"""

import math
from enum import Enum

from asv_watch.statistics.ratio import CONFIDENCE, quantile

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


class Answer(Enum):
    """Whether there is a change of the size that is looked for."""

    DIFFERENT = "different"
    SAME = "same"
    UNKNOWN = "too noisy to tell"


def answer(
    difference: float,
    half: float,
    freedom: float,
    change: float,
    *,
    error: float = (1 - CONFIDENCE) / 2,
    counts_from: float = SMALLEST,
) -> Answer:
    """Tell whether there is a change of a size.

    Args:
        difference: distance of the ratio from 1; below zero if only one direction is asked for
            and the ratio went the other way.
        half: half the width of the 99 % interval.
        freedom: degrees of freedom of the interval.
        change: what is looked for.
        error: chance of calling two equal versions different, on each side.
        counts_from: a smaller difference is never called different.
    """
    counts = difference >= counts_from
    if counts and difference > half * quantile(freedom, 1 - 2 * error) / quantile(freedom):
        return Answer.DIFFERENT
    is_same = not counts or difference <= half
    return Answer.SAME if is_same and difference + half <= change else Answer.UNKNOWN


def is_precise(difference: float, half: float, wanted: float, share: float) -> bool:
    """Tell whether half an interval is at most as wanted, or at most a share of the difference."""
    return half <= max(wanted, share * difference)
