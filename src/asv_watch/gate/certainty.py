"""When a gate is certain that a case is slower, from one measurement that grows.

A gate tests many cases, so a 99 % interval that excludes 1 is not enough: 1 in 200 harmless cases
would be called slower. A case is called slower if an interval with a much smaller error excludes
1: 1 in 40,000, the error of two 99 % intervals together. This error is divided among the moments
at which a case is tested.
"""

from __future__ import annotations

import math

from asv_watch.quantities import more_is_better
from asv_watch.records.comparisons import CaseRatio
from asv_watch.statistics.ratio import CONFIDENCE, quantile, standard_error
from asv_watch.statistics.rule import Verdict, judged, verdict

ROUNDS = (5, 8, 12, 18, 27)
"""Numbers of rounds after which a case is tested: it is decided, or gets more rounds."""
ERROR = ((1 - CONFIDENCE) / 2) ** 2
"""Chance that a harmless case is called slower."""
_CONFIDENCE = 1 - 2 * ERROR / len(ROUNDS)


def verdict_of(change: CaseRatio) -> Verdict:
    """Tell whether a head is worse: slower or larger, or smaller where more is better."""
    return judged(verdict(change), change.unit)


def is_certain(change: CaseRatio) -> bool:
    """Tell whether a head is worse, with an error of `ERROR` over all tests together."""
    freedom = len(change.ratios) - 1
    error = standard_error(change.interval, len(change.ratios))
    distance = abs(math.log(change.ratio))
    return (
        verdict_of(change) is Verdict.WORSE and distance > quantile(freedom, _CONFIDENCE) * error
    )


def times_as_bad(ratio: float, unit: str) -> float:
    """Return the slowdown factor of a head: how much slower or larger, or smaller."""
    return 1 / ratio if more_is_better(unit) else ratio


def reaches(change: CaseRatio, threshold: float) -> bool:
    """Tell whether the 99 % interval allows a head to be worse by a share (0.03 is 3 %)."""
    worst = max(times_as_bad(end, change.unit) for end in change.interval)
    return worst >= 1 + threshold


def is_decided(change: CaseRatio, threshold: float) -> bool:
    """Tell whether more rounds would not change the answer of the gate."""
    return is_certain(change) or not reaches(change, threshold)
