"""Decides when a gate is certain that a case is slower, as rounds are added.

A gate tests many cases, so a 99 % interval that excludes 1 is not enough: 1 in 200 harmless cases
would be called slower. A case is called slower if an interval with a much smaller error excludes
1: 1 in 40,000, the error of two 99 % intervals together. This error is divided among the repeated
tests of a case.

Intervals are those of `asv_watch.judge.graph.MachineGraphs.alone`, as `compare` prints them: they
include how far a ratio of the machine varies from one sitting of measuring to another.
"""

import math
from collections.abc import Sequence

from asv_watch.comparison import Comparison, Ratio
from asv_watch.judge.graph import MachineGraphs
from asv_watch.statistics.ratio import CONFIDENCE
from asv_watch.statistics.rule import Verdict
from asv_watch.statistics.stopping import Answer, answer

ROUNDS = (5, 8, 12, 18, 27, 40, 60)
"""Numbers of rounds after which a case is tested: it is decided, or gets more rounds."""
ERROR = ((1 - CONFIDENCE) / 2) ** 2
"""Chance that a harmless case is called slower."""


def answer_to(change: Ratio, threshold: float) -> Answer:
    """Tell whether a head is worse for certain, or not by a share (0.03 is 3 %); else unknown.

    All tests of a case together have an error of `ERROR`.
    """
    if change.exact:
        return Answer.DIFFERENT if change.verdict is Verdict.WORSE else Answer.SAME
    low, high = change.interval
    worse = math.log(slowdown_factor(change.ratio, higher_is_better=change.higher_is_better))
    freedom = change.rounds - 1  # of rounds; sittings would add to it, so this is cautious
    error = ERROR / len(ROUNDS)
    return answer(worse, math.log(high / low) / 2, freedom, math.log1p(threshold), error=error)


def is_certain(change: Ratio) -> bool:
    """Tell whether a head is worse for certain, by any share."""
    return answer_to(change, 0.0) is Answer.DIFFERENT


def judged_ratios(measured: Sequence[Comparison], graphs: MachineGraphs) -> tuple[Ratio, ...]:
    """Return one or two ratios of a case: the first decides, the last shows the size.

    The first rounds of a slower case were chosen for being slow, so fresh ones show its size.
    Where these alone do not show the change, all rounds together do: what a case is called and
    the interval beside it never contradict each other.

    Args:
        measured: The rounds until the case was decided, and fresh rounds, if there are any.
        graphs: Earlier comparisons of the machine.

    Returns:
        The ratio of all rounds, then that of the fresh ones if it agrees; empty without a ratio.
    """
    if not measured:
        return ()
    first, *again = measured
    pooled = first.with_rounds_of(again[0]) if again else first
    ratios = [graphs.alone(case, 0, 1, case.least_spread) for case in (pooled, *again)]
    known = tuple(ratio for ratio in ratios if ratio is not None)
    if len(known) < len(ratios):
        return ()
    agrees = known[-1].differs and known[-1].verdict is known[0].verdict
    return known if agrees else known[:1]


def slowdown_factor(ratio: float, *, higher_is_better: bool) -> float:
    """Return how many times slower or larger a head is, or smaller where more is better."""
    if not higher_is_better:
        return ratio
    return 1 / ratio if ratio else math.inf
