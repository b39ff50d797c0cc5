"""What the page says first: the four questions that a newcomer has, answered.

Which model is slowest on the CPU; did anything get slower lately, when, by how much, how
sure; what did the newest torch change; what failed in the newest run, and why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from torchspeed.watch.analysis.change_points import smallest_visible, values_to_confirm
from torchspeed.watch.analysis.changes import Change
from torchspeed.watch.analysis.geometric_mean import GeometricMean, geometric_mean
from torchspeed.watch.analysis.releases import ReleaseComparison
from torchspeed.watch.site.latest import recent_changes, speeds
from torchspeed.watch.site.matrix import Place, two_releases
from torchspeed.watch.site.standing import Standing, Standings

RUNNERS_UP = 2
"""Models named after the slowest."""
_NOT_SLOWER = 9
"""Of ten timings so many would have shown a change of the size that is told."""


@dataclass(frozen=True, slots=True)
class Slowest:
    """The case whose pass takes longest on the CPU, and those that follow."""

    first: Standing
    backward: Standing | None
    """The same case's backward pass."""
    others: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class Lately:
    """What moved in the newest measured commits, and what would have shown."""

    commits: int
    slower: tuple[Change, ...]
    """Timings that got slower, the largest change first."""
    faster: tuple[Change, ...]
    others: int
    """Figures that are no times and changed."""
    timings: int
    """Timings of the first place that have figures."""
    all: int
    """Times of any kind and place."""
    figures: int
    """Figures that the longest of them has."""
    needed: int
    """Figures that a series must have before a change in it can be confirmed."""
    half_show: float | None
    """Lasting change that half of them would show, as a share; ``None`` if they are too short."""
    most_show: float | None
    """Lasting change that nine in ten would show."""


@dataclass(frozen=True, slots=True)
class Releases:
    """The newest torch against the one before: one pass of one model at a time."""

    old: Place
    new: Place
    commit: int
    """Index of the newest commit that both measured."""
    mean: GeometricMean
    """Of new time / old time."""
    faster: tuple[ReleaseComparison, ...]
    """Significantly so, the largest change first."""
    slower: tuple[ReleaseComparison, ...]
    others: tuple[ReleaseComparison, ...]
    """Peak memory and the like that differ significantly."""


@dataclass(frozen=True, slots=True)
class NewestRun:
    """How the newest run of each place went."""

    failed: tuple[Standing, ...]
    """Failed or timed out."""
    stale: int
    ok: int
    skipped: int
    skipped_mostly: str
    """The reason that most skipped cases give."""


@dataclass(frozen=True, slots=True)
class Answers:
    """All four; ``None`` where nothing can be said."""

    slowest: Slowest | None
    lately: Lately
    releases: Releases | None
    newest_run: NewestRun


def answers(standings: Standings, found: Sequence[Place]) -> Answers:
    """Answer the four questions.

    Args:
        standings: Where everything stands.
        found: Its places, as `places` gives them.
    """
    timings = [
        row
        for row in standings.rows
        if row.metric.label == "time" and row.last is not None and found and _is_at(row, found[0])
    ]
    return Answers(
        slowest=_slowest(timings),
        lately=_lately(standings, timings),
        releases=_releases(standings, found),
        newest_run=_newest_run(standings),
    )


def _is_at(row: Standing, place: Place) -> bool:
    return row.series.machine == place.machine.name and row.environment == place.environment


def _slowest(timings: Sequence[Standing]) -> Slowest | None:
    def figure(row: Standing) -> float:
        return row.last[1].value if row.last else 0.0

    on_cpu = [row for row in timings if row.series.case.labels.get("device") == "cpu"]
    forward = [row for row in on_cpu if row.series.case.labels.get("pass") == "forward"]
    ordered = sorted(forward or on_cpu, key=figure, reverse=True)
    if not ordered:
        return None
    first = ordered[0]
    backward = [
        row
        for row in on_cpu
        if row.series.case.labels == {**first.series.case.labels, "pass": "backward"}
    ]
    models = dict.fromkeys([first.model])
    others = []
    for row in ordered[1:]:
        if row.model not in models:
            models[row.model] = None
            others.append(row)
    return Slowest(first, backward[0] if backward else None, tuple(others[:RUNNERS_UP]))


def _lately(standings: Standings, timings: Sequence[Standing]) -> Lately:
    span, changes = recent_changes(standings)
    times = sorted(speeds(standings.rows, changes), key=_size, reverse=True)
    visible = sorted(
        share
        for row in timings
        if row.noise is not None
        and (share := smallest_visible(row.noise, len(row.points))) is not None
    )
    return Lately(
        commits=span,
        slower=tuple(change for change in times if change.verdict == "worse"),
        faster=tuple(change for change in times if change.verdict == "better"),
        others=len(changes) - len(times),
        timings=len(timings),
        all=sum(row.metric.unit == "seconds" and row.last is not None for row in standings.rows),
        figures=max((len(row.points) for row in timings), default=0),
        needed=values_to_confirm(),
        half_show=median(visible) if visible else None,
        most_show=visible[len(visible) * _NOT_SLOWER // 10] if visible else None,
    )


def _size(change: Change) -> float:
    if change.ratio is None:
        return float("inf")
    return max(change.ratio, 1 / change.ratio)


def _releases(standings: Standings, found: Sequence[Place]) -> Releases | None:
    machine, old, new = two_releases(found)
    if old is None or new is None:
        return None
    names = (old.environment.name, new.environment.name)
    pairs = [
        (one.commit, pair)
        for one in standings.releases
        for pair in one.pairs
        if one.machine == machine and (pair.before, pair.after) == names
    ]
    if not pairs:
        return None
    [(commit, pair)] = pairs
    times = [one for one in pair.cases if one.unit == "seconds" and one.ratio is not None]
    if not times:
        return None

    def moved(
        members: Sequence[ReleaseComparison], verdict: str | None = None
    ) -> tuple[ReleaseComparison, ...]:
        differing = [one for one in members if one.differs]
        chosen = [one for one in differing if verdict in {None, one.verdict.value}]
        return tuple(
            sorted(chosen, key=lambda one: max(one.ratio or 1, 1 / (one.ratio or 1)), reverse=True)
        )

    order = [commit.hash for commit in standings.history.commits]
    return Releases(
        old=old,
        new=new,
        commit=order.index(commit),
        mean=geometric_mean([one.ratio for one in times if one.ratio is not None]),
        faster=moved(times, "better"),
        slower=moved(times, "worse"),
        others=moved([one for one in pair.cases if one.unit != "seconds"]),
    )


def _newest_run(standings: Standings) -> NewestRun:
    status = Counter(row.status for row in standings.rows)
    reasons = Counter(row.reason for row in standings.rows if row.status == "skipped")
    failed = [row for row in standings.rows if row.status in {"failed", "timed out"}]
    return NewestRun(
        failed=tuple(sorted(failed, key=lambda row: -(row.at or 0))),
        stale=status["stale"],
        ok=status["ok"],
        skipped=status["skipped"],
        skipped_mostly=reasons.most_common(1)[0][0] if reasons else "",
    )
