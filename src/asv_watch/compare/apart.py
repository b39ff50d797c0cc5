"""Compares two values from separate runs, perhaps days or machines apart.

The interval of their ratio comes from dividing the ends of their intervals. A difference is only
suspected, because the machine may have changed in between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from asv_watch.answers import UNKNOWN, Answer, Difference, word_of
from asv_watch.records.comparisons import ratio_kind
from asv_watch.records.records import Benchmark, Point
from asv_watch.statistics.rule import MeasuredRatio, Verdict, is_too_noisy, judged, verdict
from asv_watch.text import quantities

SUSPECTED = ", suspected"


class Apart(NamedTuple):
    """The difference of a case between two such values."""

    change: str
    """The change in words, such as ``about +3 %``; empty if there is no ratio."""
    ends: str
    """The interval in words; empty if there is none."""
    word: str
    """The verdict, such as ``slower, suspected``."""
    ratio: float | None = None
    """After over before; ``None`` if either is zero or below."""
    interval: tuple[float, float] | None = None
    verdict: Verdict = Verdict.SAME
    """Whether the second value is better, worse or the same."""


@dataclass(frozen=True, slots=True)
class StoredReport:
    """A comparison of stored results, in which nothing was measured."""

    text: str
    """The report: Markdown, aligned for the terminal."""
    answer: Answer

    @property
    def is_slower(self) -> bool:
        """Whether a case became worse."""
        return any(difference.worse for difference in self.answer.differences)


def compare_apart(before: Point, after: Point, benchmark: Benchmark) -> Apart:
    """Compare two values of a case.

    Args:
        before: the first.
        after: the second.
        benchmark: of both values. A time from a single sample is too noisy to tell anything; if
            values are exact, any difference counts.
    """
    kind = ratio_kind(benchmark.unit)
    better = benchmark.higher_is_better
    ratio = _divide(before, after, higher_is_better=better)
    if ratio is None or benchmark.exact:
        size = "" if ratio is None else quantities.change(ratio.ratio, kind)
        if before.value == after.value:
            return Apart(size, "", "same", ratio and ratio.ratio)
        answer = judged(is_more=after.value > before.value, higher_is_better=better)
        return Apart(size, "", word_of(answer, kind), ratio and ratio.ratio, None, answer)
    change = quantities.about(ratio.ratio, kind)
    is_of_one_sample = any(point.interval is None for point in (before, after))
    if kind == "time" and is_of_one_sample:
        return Apart(change, "", UNKNOWN, ratio.ratio)
    ends = quantities.interval(ratio.interval)
    if is_too_noisy(ratio):
        return Apart(change, ends, UNKNOWN, ratio.ratio, ratio.interval)
    answer = verdict(ratio)
    word = word_of(answer, kind)
    word += "" if answer is Verdict.SAME else SUSPECTED
    return Apart(change, ends, word, ratio.ratio, ratio.interval, answer)


def apart_difference(
    case: str, apart: Apart, before: Point, after: Point, unit: str, machine: str
) -> Difference:
    """Return a case that was compared apart as JSON has it."""
    return Difference(
        case=case,
        verdict=apart.word.removesuffix(SUSPECTED),
        measured=False,
        unit=unit,
        before=before.value,
        after=after.value,
        ratio=apart.ratio,
        interval=apart.interval,
        worse=apart.verdict is Verdict.WORSE,
        machine=machine,
    )


def _divide(before: Point, after: Point, *, higher_is_better: bool) -> MeasuredRatio | None:
    """Divide two values and the ends of their intervals; ``None`` if one is not positive."""
    old, new = (sorted((point.value, *(point.interval or ()))) for point in (before, after))
    if old[0] <= 0 or new[0] <= 0 or math.isinf(old[-1]) or math.isinf(new[-1]):
        return None
    interval = (new[0] / old[-1], new[-1] / old[0])
    return MeasuredRatio(after.value / before.value, interval, higher_is_better)
