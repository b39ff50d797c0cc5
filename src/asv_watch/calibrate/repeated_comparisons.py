"""Noise between comparisons of a commit with itself, and the smallest change that they detect.

The same commit on both sides (A/A): whatever their ratio differs from 1 by is noise. Per case,
over several comparisons:

- the **noise** is the standard deviation of the logarithm of the ratio, about its true 0;
- the **worst** ratio is the one farthest from 1;
- the **smallest change seen** is the least slowdown that, put on either side of any of them, is
  called worse (`asv_watch.statistics.ratio`).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from asv_watch.records.calibrations import RepeatedComparison, RepeatedComparisons
from asv_watch.records.comparisons import CaseRatio
from asv_watch.statistics.ratio import verdict
from asv_watch.statistics.rule import MINIMUM_EFFECT, Verdict


def summarise_repeats(
    seconds: float, comparisons: Sequence[Sequence[CaseRatio]]
) -> RepeatedComparisons | None:
    """Describe repeated comparisons of a commit with itself.

    Args:
        seconds: What they took.
        comparisons: The cases of each comparison; only those that are in all of them count.

    Returns:
        ``None`` where no case has a ratio in every comparison.
    """
    by_case: dict[str, list[CaseRatio]] = {}
    for comparison in comparisons:
        for case in comparison:
            by_case.setdefault(case.case, []).append(case)
    complete = {name: cases for name, cases in by_case.items() if len(cases) == len(comparisons)}
    if not complete:
        return None
    return RepeatedComparisons(
        repeats=len(comparisons),
        seconds=seconds,
        cases=tuple(summarise_case(name, cases) for name, cases in complete.items()),
        false_alarms=sum(
            verdict(case) is not Verdict.SAME for cases in complete.values() for case in cases
        ),
    )


def summarise_case(name: str, cases: Sequence[CaseRatio]) -> RepeatedComparison:
    """Describe the ratios of one case of a commit to itself, one at least."""
    logs = [math.log(case.ratio) for case in cases]
    half_widths = [math.log(case.interval[1] / case.ratio) for case in cases]
    smallest = math.log1p(MINIMUM_EFFECT)
    return RepeatedComparison(
        case=name,
        rounds=len(cases[0].ratios),
        noise=math.sqrt(statistics.fmean(log**2 for log in logs)),
        worst=math.expm1(max(map(abs, logs))),
        detectable=math.expm1(
            max(
                max(half_width, smallest) + abs(log)
                for log, half_width in zip(logs, half_widths, strict=True)
            )
        ),
    )
