"""Interleaved comparisons as evidence about a change of a series.

A comparison is *across* a change when it holds a commit at the level before against a commit at
the level after, with the torch release of the series. Where there is none, two comparisons with
the same reference do: the ratio of the later commit to the reference over that of the earlier
one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torchspeed.watch.history.comparisons import CaseRatio, StoredComparison, Version


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


def find_evidence(
    comparisons: Sequence[StoredComparison],
    case: str,
    torch: str,
    positions: Mapping[str, int],
    span: Span,
) -> Evidence | None:
    """Find the newest evidence about a change, a direct comparison first.

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
    with_reference: dict[Version, dict[str, CaseRatio]] = {}
    through_reference = None
    for comparison, ratio in newest_first:
        header = comparison.header
        side = span.side(positions.get(header.after.commit, -1))
        from_before = span.side(positions.get(header.before.commit, -1)) == "before"
        if side == "after" and from_before and header.before.torch == header.after.torch:
            return Evidence(ratio.ratio, ratio.interval, ratio.at)
        if side and header.kind == "reference" and through_reference is None:
            sides = with_reference.setdefault(header.before, {})
            sides.setdefault(side, ratio)
            if len(sides) == 2:
                through_reference = _over(sides["before"], sides["after"])
    return through_reference


def _over(before: CaseRatio, after: CaseRatio) -> Evidence:
    """Return the ratio of two ratios; the half-widths of their intervals add in quadrature."""
    ratio = after.ratio / before.ratio
    lower = math.hypot(
        math.log(after.ratio / after.interval[0]), math.log(before.interval[1] / before.ratio)
    )
    upper = math.hypot(
        math.log(after.interval[1] / after.ratio), math.log(before.ratio / before.interval[0])
    )
    interval = (ratio * math.exp(-lower), ratio * math.exp(upper))
    return Evidence(ratio, interval, max(before.at, after.at), through_reference=True)
