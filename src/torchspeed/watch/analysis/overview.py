"""Many comparisons in one figure: how much better, over how many series."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from torchspeed.watch.analysis.compare import Comparison, Verdict
from torchspeed.watch.analysis.statistics import GeometricMean, geometric_mean


@dataclass(frozen=True, slots=True)
class Summary:
    """Comparisons that share some labels."""

    labels: tuple[str, ...]
    """Values of the labels that they were grouped by, in that order."""
    improvement: GeometricMean | None
    """How many times better on (geometric) average, and over how many cases; above 1 is
    better whatever the metric. ``None`` without a single ratio."""
    better: int
    worse: int
    same: int
    missing: int


def summarise(
    comparisons: Iterable[Comparison], by: tuple[str, ...] = ("device", "pass", "metric")
) -> tuple[Summary, ...]:
    """Group comparisons by labels of their cases and sum up each group.

    Every ratio is first turned so that more is better. Insignificant differences
    enter the mean as they are: leaving them out would exaggerate it.

    Args:
        comparisons: What ``compare_revisions`` and its like give.
        by: Names of labels; a case without one counts under an empty value.
    """
    groups: dict[tuple[str, ...], list[Comparison]] = {}
    for comparison in comparisons:
        key = tuple(comparison.case.labels.get(name, "") for name in by)
        groups.setdefault(key, []).append(comparison)
    return tuple(_summary(key, group) for key, group in sorted(groups.items()))


def _summary(labels: tuple[str, ...], group: list[Comparison]) -> Summary:
    ratios = [c.improvement for c in group if c.improvement is not None]
    count = {verdict: sum(c.verdict is verdict for c in group) for verdict in Verdict}
    return Summary(
        labels=labels,
        improvement=geometric_mean(ratios) if ratios else None,
        better=count[Verdict.BETTER],
        worse=count[Verdict.WORSE],
        same=count[Verdict.SAME],
        missing=count[Verdict.MISSING],
    )
