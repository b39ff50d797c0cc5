"""Compares two values from separate runs, perhaps days or machines apart.

The interval of their ratio comes from dividing the ends of their intervals. A difference is only
suspected, because the machine may have changed in between.
"""

from __future__ import annotations

import math

from asv_watch.answers import UNKNOWN, Difference, word_of
from asv_watch.records.comparisons import ratio_kind
from asv_watch.records.records import Benchmark, Point
from asv_watch.statistics.rule import MeasuredRatio, Verdict, is_too_noisy, judged, verdict


def compare_apart(
    case: str, before: Point, after: Point, benchmark: Benchmark, machine: str
) -> Difference:
    """Compare two values of a case.

    Args:
        case: its name.
        before: the first.
        after: the second.
        benchmark: of both values. A time from a single sample is too noisy to tell anything; if
            values are exact, any difference counts.
        machine: where the second was measured.
    """
    kind = ratio_kind(benchmark.unit)
    better = benchmark.higher_is_better
    ratio = _divide(before, after, higher_is_better=better)
    interval, answer = None, Verdict.SAME
    is_of_one_sample = any(point.interval is None for point in (before, after))
    is_unknown = False
    if ratio is None or benchmark.exact:
        if before.value != after.value:
            answer = judged(is_more=after.value > before.value, higher_is_better=better)
    elif kind == "time" and is_of_one_sample:
        is_unknown = True
    else:
        interval, answer, is_unknown = ratio.interval, verdict(ratio), is_too_noisy(ratio)
    return Difference(
        case=case,
        verdict=UNKNOWN if is_unknown else word_of(answer, kind),
        measured=False,
        unit=benchmark.unit,
        before=before.value,
        after=after.value,
        ratio=ratio and ratio.ratio,
        interval=interval,
        worse=answer is Verdict.WORSE,
        machine=machine,
    )


def _divide(before: Point, after: Point, *, higher_is_better: bool) -> MeasuredRatio | None:
    """Divide two values and the ends of their intervals; ``None`` if one is not positive."""
    old, new = (sorted((point.value, *(point.interval or ()))) for point in (before, after))
    if old[0] <= 0 or new[0] <= 0 or math.isinf(old[-1]) or math.isinf(new[-1]):
        return None
    interval = (new[0] / old[-1], new[-1] / old[0])
    return MeasuredRatio(after.value / before.value, interval, higher_is_better)
