"""Interleaved comparisons as evidence about a change of a series.

A comparison is *across* a change when it holds a commit at the level before against a commit at
the level after, with the torch release of the series. Where there is none, two comparisons with
the same reference do: the ratio of the later commit to the reference over that of the earlier
one. Of the commits at a level, those next to the change count. Where these are not the change's
own two, the evidence is *wider* than the change: another one may lie between its commits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from asv_watch.records.comparisons import CaseRatio, StoredComparison, Version


@dataclass(frozen=True, slots=True)
class Evidence:
    """What interleaved comparisons say about the size of a change."""

    ratio: float
    """After over before: above 1 is slower."""
    interval: tuple[float, float]
    """Confidence interval of the ratio."""
    at: int
    """When it was measured, seconds since the epoch."""
    through_reference: bool = False
    """Whether both commits were compared with the reference and not with each other."""
    wider: bool = False
    """Whether other commits than the two next to the change were compared."""


@dataclass(frozen=True, slots=True)
class Span:
    """The commits around a change, as positions along the branch."""

    before: range
    """At the level before it."""
    after: range
    """At the level after it."""

    def side(self, position: int) -> str:
        """``before``, ``after`` or empty for a commit at neither level."""
        if position in self.before:
            return "before"
        return "after" if position in self.after else ""

    def is_wider(self, before: int, after: int) -> bool:
        """Tell whether two positions enclose more than the change."""
        return (before, after) != (self.before[-1], self.after[0])


def find_evidence(
    comparisons: Sequence[StoredComparison],
    case: str,
    torch: str,
    positions: Mapping[str, int],
    span: Span,
) -> Evidence | None:
    """Find evidence about a change: a direct comparison first, then the nearest, then the newest.

    Args:
        comparisons: Those of the machine, oldest first.
        case: Name of the case.
        torch: Release of torch that both commits must have had; empty for any.
        positions: Of commits along the branch.
        span: The commits at the levels before and after.
    """
    newest_first = [
        (comparison, ratio)
        for comparison in reversed(comparisons)
        if comparison.header.after.torch == torch or not torch
        for ratio in comparison.ratios
        if ratio.case == case
    ]
    direct: list[Evidence] = []
    with_reference: dict[Version, dict[str, dict[int, CaseRatio]]] = {}
    for comparison, ratio in newest_first:
        header = comparison.header
        before, after = (
            positions.get(version.commit, -1) for version in (header.before, header.after)
        )
        side = span.side(after)
        is_across = side == "after" and span.side(before) == "before"
        if is_across and header.before.torch == header.after.torch:
            wider = span.is_wider(before, after)
            direct.append(Evidence(ratio.ratio, ratio.interval, ratio.at, wider=wider))
        elif side and header.kind == "reference":
            sides = with_reference.setdefault(header.before, {"before": {}, "after": {}})
            sides[side].setdefault(after, ratio)
    through_reference = [
        _over(sides, span) for sides in with_reference.values() if all(sides.values())
    ]
    # Where several are equally near, the first is the newest.
    return min(direct or through_reference, key=lambda evidence: evidence.wider, default=None)


def _over(sides: Mapping[str, Mapping[int, CaseRatio]], span: Span) -> Evidence:
    """Return the ratio of two ratios; the half-widths of their intervals add in quadrature.

    Args:
        sides: The level, ``before`` or ``after``, to its commits' positions and ratios.
        span: The commits around the change.
    """
    first, last = max(sides["before"]), min(sides["after"])
    before, after = sides["before"][first], sides["after"][last]
    ratio = after.ratio / before.ratio
    lower = math.hypot(
        math.log(after.ratio / after.interval[0]), math.log(before.interval[1] / before.ratio)
    )
    upper = math.hypot(
        math.log(after.interval[1] / after.ratio), math.log(before.ratio / before.interval[0])
    )
    interval = (ratio * math.exp(-lower), ratio * math.exp(upper))
    at = max(before.at, after.at)
    return Evidence(ratio, interval, at, through_reference=True, wider=span.is_wider(first, last))
