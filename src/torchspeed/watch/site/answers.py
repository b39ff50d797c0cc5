"""Answers to the four questions of the first screen.

Which model is slowest on the CPU; has anything changed lately, how much and how sure is it; what
did the newest torch change; what failed in the newest run, and why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from torchspeed.watch.analysis.changes import Change, State
from torchspeed.watch.analysis.geometric_mean import GeometricMean, geometric_mean
from torchspeed.watch.analysis.releases import ReleaseComparison
from torchspeed.watch.analysis.rule import noise_of_ratio, smallest_difference
from torchspeed.watch.site.commit_changes import largest_first, recent_changes
from torchspeed.watch.site.contents import Contents, SeriesSummary, Setup

RUNNERS_UP = 2
"""Models named after the slowest."""


@dataclass(frozen=True, slots=True)
class SlowestModel:
    """The case whose pass takes longest on the CPU, and those that follow."""

    first: SeriesSummary
    backward: SeriesSummary | None
    """The same case's backward pass."""
    others: tuple[SeriesSummary, ...]


@dataclass(frozen=True, slots=True)
class RecentChanges:
    """What changed in the newest measured commits, and the smallest change that would show."""

    commits: int
    slower: tuple[Change, ...]
    """Times that increased, the largest change first."""
    faster: tuple[Change, ...]
    others: tuple[Change, ...]
    """Changes of memory, counts and the like, in the same order."""
    times: int
    """Series of times that have values."""
    without_noise: bool
    """Whether the noise of no time is known, so that no change can be reported yet."""
    detectable: tuple[float, float] | None
    """Median and 90th percentile, over the times of the first setup, of the smallest relative
    change between two runs that counts as a difference."""

    @property
    def headline(self) -> str:
        """The answer in a few words: how many times changed, and how sure that is."""
        slower, new_slower = _count(self.slower)
        faster, new_faster = _count(self.faster)
        if slower:
            more = f", {new_slower} more unconfirmed" if new_slower else ""
            return f"{slower} slower{more}"
        if new_slower:
            return f"{new_slower} slower, unconfirmed"
        if faster or new_faster:
            unconfirmed = "" if faster else ", unconfirmed"
            return f"Nothing slower, {faster or new_faster} faster{unconfirmed}"
        if self.commits < 2 or self.without_noise:
            return "Too early to tell"
        return "No change of a time"


@dataclass(frozen=True, slots=True)
class NewestRelease:
    """The newest torch against the release before it, at one commit."""

    old: str
    """Release of torch."""
    new: str
    setup: Setup
    """The machine, with the new release."""
    old_environment: str
    commit: int
    """Index of the commit that both were measured at."""
    cases: tuple[ReleaseComparison, ...]
    mean: GeometricMean
    """Of new time / old time."""
    faster: tuple[ReleaseComparison, ...]
    """Times that clearly differ, the largest change first."""
    slower: tuple[ReleaseComparison, ...]
    others: tuple[ReleaseComparison, ...]
    """Peak memory and the like that clearly differ."""


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


def _count(changes: Sequence[Change]) -> tuple[int, int]:
    """How many are confirmed, and how many are not."""
    confirmed = sum(change.state is State.CONFIRMED for change in changes)
    return confirmed, len(changes) - confirmed


def _times(contents: Contents) -> list[SeriesSummary]:
    """Times of the first setup that have values."""
    first = contents.of_setup(contents.setups[0]) if contents.setups else []
    return [row for row in first if row.metric.label == "time" and row.points]


def slowest_model(contents: Contents) -> SlowestModel | None:
    """Find the slowest model; ``None`` if none was measured on the CPU."""
    on_cpu = [row for row in _times(contents) if row.labels.get("device") == "cpu"]
    forward = [row for row in on_cpu if row.labels.get("pass") == "forward"]
    ordered = sorted(forward or on_cpu, key=lambda row: -row.points[-1][1].value)
    if not ordered:
        return None
    slowest_of: dict[str, SeriesSummary] = {}
    for row in ordered:
        slowest_of.setdefault(row.model, row)
    first, *others = slowest_of.values()
    backward = [row for row in on_cpu if row.labels == {**first.labels, "pass": "backward"}]
    return SlowestModel(first, backward[0] if backward else None, tuple(others[:RUNNERS_UP]))


def changes_lately(contents: Contents) -> RecentChanges:
    """Sort the changes of the newest measured commits."""
    commits, changes = recent_changes(contents)
    of_times = [c for c in changes if contents.series[c.series].metric.unit == "seconds"]
    others = [c for c in changes if contents.series[c.series].metric.unit != "seconds"]
    shares = sorted(share for row in _times(contents) if (share := detectable(row)) is not None)
    return RecentChanges(
        commits=commits,
        slower=largest_first([change for change in of_times if change.verdict == "worse"]),
        faster=largest_first([change for change in of_times if change.verdict == "better"]),
        others=largest_first(others),
        times=sum(row.metric.unit == "seconds" and bool(row.points) for row in contents.series),
        without_noise=not shares,
        detectable=(median(shares), shares[len(shares) * 9 // 10]) if shares else None,
    )


def detectable(summary: SeriesSummary) -> float | None:
    """Smallest relative change between two runs of a series that counts as a difference."""
    noise = noise_of_ratio(summary.noise, summary.noise)
    return None if noise is None else smallest_difference(noise)


def newest_release(contents: Contents) -> NewestRelease | None:
    """Compare the newest two releases of the first machine that measured several."""
    machines = dict.fromkeys(setup.machine.name for setup in contents.setups)
    order = {commit.hash: place for place, commit in enumerate(contents.history.commits)}
    for machine in machines:
        for releases in contents.findings.releases:
            if releases.machine != machine:
                continue
            pair = releases.pairs[-1]
            times = [one for one in pair.cases if one.unit == "seconds" and one.ratio is not None]
            if not times:
                continue
            environments = contents.history.environments
            differing = sorted(
                (one for one in pair.cases if one.differs),
                key=lambda one: -max(one.ratio or 1, 1 / (one.ratio or 1)),
            )
            of_times = [one for one in differing if one.unit == "seconds"]
            return NewestRelease(
                old=environments[pair.before].torch,
                new=environments[pair.after].torch,
                setup=next(
                    setup
                    for setup in contents.setups
                    if (setup.machine.name, setup.environment.name) == (machine, pair.after)
                ),
                old_environment=pair.before,
                commit=order[releases.commit],
                cases=pair.cases,
                mean=geometric_mean([one.ratio for one in times if one.ratio is not None]),
                faster=tuple(one for one in of_times if one.verdict.value == "better"),
                slower=tuple(one for one in of_times if one.verdict.value == "worse"),
                others=tuple(one for one in differing if one.unit != "seconds"),
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
