"""Answers to the four questions of the first screen.

Which model is slowest on the CPU; has anything changed lately, how much and how sure is it; what
did the newest release of a requirement change; what failed in the newest run, and why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from asv_watch.judge.changes import Change
from asv_watch.judge.detectable import Detectable
from asv_watch.site.commit_changes import largest_first, recent_changes
from asv_watch.site.contents import Contents, SeriesSummary, Setup
from asv_watch.site.releases import ReleaseView, newest_column, release_views

RUNNERS_UP = 2
"""Models named after the slowest."""


@dataclass(frozen=True, slots=True)
class SlowestModel:
    """The case that takes longest, of models on the CPU, and those that follow."""

    first: SeriesSummary
    backward: SeriesSummary | None
    """The same case's backward pass."""
    others: tuple[SeriesSummary, ...]


@dataclass(frozen=True, slots=True)
class RecentChanges:
    """What changed in the newest measured commits, and the smallest change that would show."""

    commits: int
    slower: tuple[Change, ...]
    """Times that increased, as measured, the largest change first."""
    faster: tuple[Change, ...]
    suspected: tuple[Change, ...]
    """Changes of times and memory that only separate runs show."""
    exact: tuple[Change, ...]
    """Changes of exact values."""
    detectable: Detectable | None
    """The smallest changes that comparisons on the first machine show; ``None`` without any."""

    @property
    def headline(self) -> str:
        """The answer in a few words: how many times changed."""
        if self.slower:
            return f"{len(self.slower)} slower"
        if self.faster:
            return f"Nothing slower, {len(self.faster)} faster"
        if self.commits < 2 or self.detectable is None:
            return "Too early to tell"
        return "No change of a time"


@dataclass(frozen=True, slots=True)
class NewestRelease:
    """The newest release of a requirement against the one before it."""

    requirement: str
    """Such as ``numpy``."""
    old: str
    """Such as ``2.3.0``."""
    new: str
    machine: str
    commits: tuple[str, ...]
    """Hashes: a case was measured at the same commit with both, other cases maybe at others."""
    mean: float
    """Geometric mean of new time / old time."""
    count: int
    """Number of times in the mean."""
    slower: tuple[tuple[str, float], ...]
    """Names and ratios of the times that clearly differ, the largest change first."""
    faster: tuple[tuple[str, float], ...]

    @property
    def headline(self) -> str:
        """The answer in a few words."""
        if self.slower or self.faster:
            return f"{len(self.slower)} slower, {len(self.faster)} faster"
        return "No clear difference"


@dataclass(frozen=True, slots=True)
class NewestRun:
    """How the newest run went: that of the first setup."""

    setup: Setup
    failed: tuple[SeriesSummary, ...]
    """Failed or timed out in it."""
    cases: int
    skipped_mostly: str
    """The reason that most of its skipped cases give."""
    stale: int
    """Cases of the setup whose newest value is from an older commit."""
    failed_elsewhere: int
    """Cases that failed or timed out in the newest run of another setup."""

    @property
    def headline(self) -> str:
        """The answer in a few words."""
        return f"{len(self.failed)} of {self.cases} cases" if self.failed else "Nothing"


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to the questions of the first screen, where there are any."""

    recent: RecentChanges
    release: NewestRelease | None
    run: NewestRun | None
    slowest: SlowestModel | None
    release_views: tuple[ReleaseView, ...]
    """The releases that were compared interleaved, which one of the answers is from."""


def answers_of(contents: Contents) -> Answers:
    """Answer the questions of the first screen."""
    views = release_views(contents)
    return Answers(
        recent=changes_lately(contents),
        release=newest_release(views),
        run=newest_run(contents),
        slowest=slowest_model(contents),
        release_views=tuple(views),
    )


def _times(contents: Contents) -> list[SeriesSummary]:
    """Times of the first setup that have values."""
    first = contents.of_setup(contents.setups[0]) if contents.setups else []
    return [row for row in first if row.metric.label == "time" and row.has_value]


def slowest_model(contents: Contents) -> SlowestModel | None:
    """Find the slowest model or benchmark; ``None`` if no model was measured on the CPU."""
    times = _times(contents)
    on_cpu = [row for row in times if row.labels.get("device") == "cpu"]
    on_cpu = on_cpu if contents.layout.of_models else times
    forward = [row for row in on_cpu if row.labels.get("pass") == "forward"]
    ordered = sorted(forward or on_cpu, key=lambda row: -row.newest_value)
    if not ordered:
        return None
    slowest_of: dict[tuple[str, str], SeriesSummary] = {}
    for row in ordered:
        slowest_of.setdefault((row.owner, row.model), row)
    first, *others = slowest_of.values()
    backward = [
        row
        for row in on_cpu
        if "pass" in first.labels and row.labels == {**first.labels, "pass": "backward"}
    ]
    return SlowestModel(first, backward[0] if backward else None, tuple(others[:RUNNERS_UP]))


def changes_lately(contents: Contents) -> RecentChanges:
    """Sort the changes of the newest measured commits."""
    commits, changes = recent_changes(contents, contents.changes)
    measured = largest_first(change for change in changes if change.is_measured)
    machine = contents.setups[0].machine.name if contents.setups else ""
    return RecentChanges(
        commits=commits,
        slower=tuple(change for change in measured if change.verdict == "worse"),
        faster=tuple(change for change in measured if change.verdict == "better"),
        suspected=largest_first(change for change in changes if not change.is_measured),
        exact=recent_changes(contents, contents.exact_changes)[1],
        detectable=contents.findings.detectable.get(machine),
    )


def newest_release(views: Sequence[ReleaseView]) -> NewestRelease | None:
    """Return what the newest release changed, of the first machine that compared it.

    Args:
        views: The releases that were compared (`releases.release_views`).
    """
    for view in views:
        column = newest_column(view)
        if column is not None and column.mean is not None:
            name_of = {row.case: row.name for row in view.tables[0].rows}
            return NewestRelease(
                requirement=view.history.requirement,
                old=column.step.before,
                new=column.step.after,
                machine=view.history.machine,
                commits=column.commits,
                mean=column.mean,
                count=column.count,
                slower=tuple((name_of[ratio.case], ratio.ratio) for ratio in column.slower),
                faster=tuple((name_of[ratio.case], ratio.ratio) for ratio in column.faster),
            )
    return None


def newest_run(contents: Contents) -> NewestRun | None:
    """Count the outcomes of the newest run; ``None`` if nothing was measured."""
    if not contents.setups:
        return None
    setup = contents.setups[0]
    members = contents.of_setup(setup)
    of_run = [row for row in members if row.at == setup.newest]
    reasons = Counter(row.reason for row in of_run if row.status == "skipped")
    return NewestRun(
        setup=setup,
        failed=tuple(row for row in of_run if row.status in {"failed", "timed out"}),
        cases=len(of_run),
        skipped_mostly=reasons.most_common(1)[0][0] if reasons else "",
        stale=sum(row.status == "stale" for row in members),
        failed_elsewhere=sum(
            other.counts.get(outcome, 0)
            for other in contents.setups[1:]
            for outcome in ("failed", "timed out")
        ),
    )
