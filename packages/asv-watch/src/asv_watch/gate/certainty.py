"""Decides when a gate is certain that a case is slower, as rounds are added.

A gate tests many cases, so a 99 % interval that excludes 1 is not enough: 1 in 200 harmless cases
would be called slower. A case is called slower if an interval with a much smaller error excludes
1: 1 in 40,000, the error of two 99 % intervals together. This error is divided among the repeated
tests of a case.

Intervals are those of `asv_watch.judge.graph.MachineGraphs.single`, as `compare` prints them: they
include how far a ratio of the machine varies from one sitting of measuring to another.
"""

from __future__ import annotations

import math

from msgspec.structs import replace

from asv_watch.judge.graph import MachineGraphs
from asv_watch.records.comparisons import CaseRatio
from asv_watch.records.measurements import MeasuredCase
from asv_watch.statistics.ratio import CONFIDENCE, quantile, standard_error
from asv_watch.statistics.rule import Verdict, verdict

ROUNDS = (5, 8, 12, 18, 27, 40, 60)
"""Numbers of rounds after which a case is tested: it is decided, or gets more rounds."""
ERROR = ((1 - CONFIDENCE) / 2) ** 2
"""Chance that a harmless case is called slower."""
_CONFIDENCE = 1 - 2 * ERROR / len(ROUNDS)


def is_certain(change: CaseRatio) -> bool:
    """Tell whether a head is worse, with an error of `ERROR` over all tests together."""
    freedom = len(change.ratios) - 1  # of rounds; sittings would add to it, so this is cautious
    error = standard_error(change.interval, len(change.ratios))
    distance = abs(math.log(change.ratio))
    return verdict(change) is Verdict.WORSE and distance > quantile(freedom, _CONFIDENCE) * error


def judged_ratios(
    first: MeasuredCase, again: MeasuredCase | None, graphs: MachineGraphs
) -> tuple[CaseRatio, ...]:
    """Return one or two ratios of a case: the first decides, the last shows the size.

    The first rounds of a slower case were chosen for being slow, so fresh ones show its size.
    Where these alone do not show the change, all rounds together do: what a case is called and
    the interval beside it never contradict each other.

    Args:
        first: The rounds until the case was decided.
        again: Fresh rounds, if there are any.
        graphs: Earlier comparisons of the machine.

    Returns:
        The ratio of all rounds, then that of the fresh ones if it agrees; empty without a ratio.
    """
    if again is None:
        ratio = _judged(first, graphs)
        return () if ratio is None else (ratio,)
    pooled = _judged(first.with_rounds_of(again), graphs)
    fresh = _judged(again, graphs)
    if pooled is None or fresh is None:
        return ()
    fresh_agrees = verdict(fresh) is verdict(pooled) is not Verdict.SAME
    return (pooled, fresh) if fresh_agrees else (pooled,)


def _judged(measured: MeasuredCase, graphs: MachineGraphs) -> CaseRatio | None:
    stored = measured.between(0, 1)
    if not isinstance(stored, CaseRatio):
        return None
    ratio = graphs.single(stored, measured.least_spread)
    return replace(
        stored,
        ratio=ratio.ratio,
        interval=ratio.interval,
        before=ratio.before,
        after=ratio.after,
    )


def slowdown_factor(ratio: float, *, higher_is_better: bool) -> float:
    """Return how many times slower or larger a head is, or smaller where more is better."""
    return 1 / ratio if higher_is_better else ratio


def reaches(change: CaseRatio, threshold: float) -> bool:
    """Tell whether the 99 % interval allows a head to be worse by a share (0.03 is 3 %)."""
    better = change.higher_is_better
    worst = max(slowdown_factor(end, higher_is_better=better) for end in change.interval)
    return worst >= 1 + threshold


def is_decided(change: CaseRatio, threshold: float) -> bool:
    """Tell whether more rounds would not change the answer of the gate."""
    return is_certain(change) or not reaches(change, threshold)
