"""When a ratio needs no more rounds: the one rule of comparisons, gates, bisections and nights.

All numbers are logarithms: +3 % is 0.0296. A ratio is ``difference`` away from 1, ``half`` is half
the width of its 99 % interval, and `answer` knows three answers to "is there a change of this
size?". By hand, for a change of 5 % (0.0488) and a difference that counts from 1.5 % (0.0149):

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

from enum import Enum

from asv_watch.statistics.ratio import CONFIDENCE, quantile
from asv_watch.statistics.rule import SMALLEST


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
