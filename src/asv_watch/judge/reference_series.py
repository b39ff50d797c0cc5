"""Series of ratios to the reference, with the standard error of each point.

Each stored comparison of kind ``reference`` gives a point to the series of each of its cases. All
points of a series are expressed as a ratio to the newest reference: a point that was measured
against an older one is divided by the *link*, the stored ratio of the newer reference to the older
one. The uncertainty of a link is common to all points that it carries, so it is kept apart from
their own, and counts where points of two references are compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from asv_watch.records.comparisons import CaseRatio, Header, StoredComparison, Version
from asv_watch.records.history import History
from asv_watch.statistics.ratio import standard_error


@dataclass(frozen=True, slots=True)
class RatioPoint:
    """The ratio of one version to the newest reference, measured once."""

    version: Version
    machine: str
    at: int
    """Seconds since the epoch."""
    ratio: float
    """Version over newest reference: above 1 is slower."""
    standard_error: float
    """Of the logarithm of the ratio, from its own measurement."""
    link_error: float
    """Standard error of the logarithm of the links from the reference that it was measured
    against to the newest; 0 where that is the newest. Points of one machine and reference share
    it."""
    seconds: float
    """Median of the version's samples, seconds a call."""


@dataclass(frozen=True, slots=True)
class RatioSeries:
    """The points of one case with one torch pair, on all machines, oldest measurement first."""

    case: str
    torch: str
    torchvision: str
    python: str
    reference: Version
    """The newest reference, of which all ratios are."""
    points: tuple[RatioPoint, ...]


Points = dict[str, RatioPoint]
"""Commit hash to the newest ratio of it, oldest commit first."""

_Measured = tuple[Header, CaseRatio]


def reference_series(comparisons: Sequence[StoredComparison]) -> tuple[RatioSeries, ...]:
    """Collect the series of ratios.

    Args:
        comparisons: as read from the results; only those of kind ``reference`` count.

    Returns:
        A series for each case and torch pair, in order of their names. Points whose reference
        no link connects to the newest one are left out.
    """
    measured = [
        (comparison.header, case)
        for comparison in sorted(comparisons, key=lambda comparison: comparison.header.at)
        if comparison.header.kind == "reference"
        for case in comparison.ratios
    ]
    by_case: dict[str, list[_Measured]] = {}
    for header, case in measured:
        by_case.setdefault(case.case, []).append((header, case))
    series = [s for name, of_case in by_case.items() for s in _series_of_case(name, of_case)]
    return tuple(sorted(series, key=lambda series: (series.case, series.torch, series.python)))


def points_by_series(history: History) -> dict[tuple[str, str, str], Points]:
    """Collect the ratios of each machine, case and torch release, commits in their order."""
    collected: dict[tuple[str, str, str], Points] = {}
    comparisons = [c for of_machine in history.comparisons.values() for c in of_machine]
    for series in reference_series(comparisons):
        for point in series.points:
            if point.version.commit in history.positions:
                key = (point.machine, series.case, series.torch)
                collected.setdefault(key, {})[point.version.commit] = point
    position = history.positions
    return {
        key: dict(sorted(points.items(), key=lambda item: position[item[0]]))
        for key, points in collected.items()
    }


def _series_of_case(name: str, measured: Sequence[_Measured]) -> Iterable[RatioSeries]:
    # A machine may measure an old link late, so the order is that of their first use.
    newest = list(dict.fromkeys(header.before for header, _ in measured))[-1]
    links: dict[str, dict[Version, tuple[float, float]]] = {}
    by_pair: dict[tuple[str, str, str], list[RatioPoint]] = {}
    for header, case in measured:
        if header.machine not in links:
            links[header.machine] = _links(newest, measured, header.machine)
        link = links[header.machine].get(header.before)
        if link is None:
            continue
        after = header.after
        point = RatioPoint(
            version=after,
            machine=header.machine,
            at=case.at,
            ratio=case.ratio / math.exp(link[0]),
            standard_error=standard_error(case.interval, len(case.ratios)),
            link_error=math.sqrt(link[1]),
            seconds=case.after_s,
        )
        by_pair.setdefault((after.torch, after.torchvision, after.python), []).append(point)
    for pair, points in by_pair.items():
        yield RatioSeries(name, *pair, newest, tuple(points))


def _links(
    newest: Version, measured: Sequence[_Measured], machine: str
) -> dict[Version, tuple[float, float]]:
    """Map each reference to the logarithm of (newest / reference), and its variance.

    Links of the machine itself are preferred to those of others, and newer ones to older ones.
    """
    references = {header.before for header, _ in measured}
    edges: dict[tuple[Version, Version], tuple[float, float]] = {}
    for header, case in sorted(measured, key=lambda pair: pair[0].machine == machine):
        if header.after in references:
            error = standard_error(case.interval, len(case.ratios))
            edges[header.before, header.after] = (math.log(case.ratio), error**2)
    links = {newest: (0.0, 0.0)}
    frontier = [newest]
    while frontier:
        current = frontier.pop(0)
        for (before, after), (log, variance) in edges.items():
            for end, other, sign in ((after, before, 1), (before, after, -1)):
                if end == current and other not in links:
                    links[other] = (links[current][0] + sign * log, links[current][1] + variance)
                    frontier.append(other)
    return links
