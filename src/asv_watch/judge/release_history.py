"""Releases compared interleaved, each with the one before it, by machine, and what differs.

They are of a requirement, with the same package on both sides, or the versions of the package
itself: commits that a tag or ``results/notes.toml`` names, in the same environment.

The newest ratio of a case decides, by the rule of interleaved comparisons
(`asv_watch.statistics.rule`). A chain of ratios gives the time of a case in each release relative
to a later one; the variances of the logarithms add up along it.

A difference is *measured* where a day shows it (the newest comparison of each day counts), and
*refuted* where a newer one shows none and its interval excludes what every earlier day showed. A
second day in the same direction shows that one day's machine did not make the difference.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from asv_watch.records.comparisons import (
    CaseRatio,
    CaseValues,
    StoredComparison,
    Unmeasured,
    import_case,
)
from asv_watch.records.releases import release_order
from asv_watch.statistics.ratio import quantile, standard_error
from asv_watch.statistics.rule import Verdict, verdict

_DAY = 86_400  # s


@dataclass(frozen=True, slots=True)
class ReleaseStep:
    """Two releases, compared case by case with everything else the same on both sides."""

    before: str
    """The older release, such as ``2.3.0``."""
    after: str
    commits: dict[str, str] = field(default_factory=dict)
    """Case to the commit of the package that ran on the side after, when it was compared last."""
    ratios: dict[str, CaseRatio] = field(default_factory=dict)
    """Case of time or peak memory to its newest ratio."""
    earlier: dict[str, list[CaseRatio]] = field(default_factory=lambda: defaultdict(list))
    """Case to its ratios before the newest, oldest first."""
    values: dict[str, CaseValues] = field(default_factory=dict)
    """Case of an exact count to its newest values; also peak memory of one process a side."""
    unmeasured: dict[str, Unmeasured] = field(default_factory=dict)
    """Case that was skipped or failed to why; it may have a ratio from another day."""
    recipe: dict[str, float | str] = field(default_factory=dict)
    """How the newest ratios of times were taken."""
    days: set[int] = field(default_factory=set)
    """When ratios were measured, days since the epoch (UTC)."""

    @property
    def times(self) -> dict[str, CaseRatio]:
        """Case that was timed to its newest ratio."""
        return {case: ratio for case, ratio in self.ratios.items() if ratio.kind == "time"}

    @property
    def counts(self) -> dict[str, CaseValues]:
        """Case of an exact count to its newest values."""
        return {case: values for case, values in self.values.items() if values.exact}

    def add(self, comparison: StoredComparison) -> None:
        """Add a comparison that is newer than those before."""
        header = comparison.header
        if comparison.ratios or comparison.unmeasured:
            self.days.add(header.at // _DAY)
        for unmeasured in comparison.unmeasured:
            self.commits.setdefault(unmeasured.case, header.after.commit)
            self.unmeasured[unmeasured.case] = unmeasured
        for ratio in comparison.ratios:
            if ratio.case in self.ratios:
                self.earlier[ratio.case].append(self.ratios[ratio.case])
            self.commits[ratio.case] = header.after.commit
            self.ratios[ratio.case] = ratio
            self.values.pop(ratio.case, None)
        if comparison.times:
            self.recipe.clear()
            self.recipe.update(header.recipe)
        for values in comparison.values:
            self.values[values.case] = values


@dataclass(frozen=True, slots=True)
class ReleaseHistory:
    """All releases of a requirement, or of the package, that a machine compared interleaved."""

    machine: str
    requirement: str
    """Such as ``numpy``; empty for the package itself."""
    releases: tuple[str, ...]
    """Oldest first."""
    steps: tuple[ReleaseStep, ...]
    """Comparisons of neighbouring releases, newest first."""
    with_newest: tuple[ReleaseStep, ...] = ()
    """Comparisons of older releases with the newest one, its neighbour left out."""
    nulls: tuple[StoredComparison, ...] = ()
    """Comparisons of a release with itself, by the methods of the steps."""

    @property
    def null_ratios(self) -> tuple[CaseRatio, ...]:
        """Ratios of releases to themselves (A/A): their distance from 1 is noise."""
        ratios = (ratio for null in self.nulls for ratio in null.times)
        return tuple(ratio for ratio in ratios if ratio.case != import_case(self.requirement))


@dataclass(frozen=True, slots=True)
class RelativeTime:
    """Time of a case in a release over that in the newest one."""

    release: str
    ratio: float
    interval: tuple[float, float]
    """Confidence interval (99 %); of the newest release it has no width."""


def release_steps(
    comparisons: Sequence[StoredComparison],
    requirement: str,
    versions: Mapping[str, str] = {},
) -> dict[tuple[str, str], ReleaseStep]:
    """Gather the comparisons of releases that differ in nothing else.

    Args:
        comparisons: those of one machine, oldest first.
        requirement: whose releases were compared; the package's own if empty.
        versions: commits to the versions of the package that they are.

    Returns:
        The older and the later release to what was compared of them.
    """
    steps: dict[tuple[str, str], ReleaseStep] = {}
    for comparison in comparisons:
        header = comparison.header
        sides = header.before, header.after
        if header.requirement != requirement or header.kind == "planted":
            continue
        if comparison.failed_import is not None:
            continue
        if requirement:
            before, after = (side.requirements[requirement] for side in sides)
            is_step = header.kind == "release" and sides[0].commit == sides[1].commit
        else:
            before, after = (versions.get(side.commit, "") for side in sides)
            is_step = bool(before) and release_order(before) < release_order(after)
        if is_step:
            steps.setdefault((before, after), ReleaseStep(before, after)).add(comparison)
    return steps


def failed_releases(comparisons: Sequence[StoredComparison], requirement: str) -> dict[str, str]:
    """Return the releases that could not be installed or imported when they were last tried.

    Args:
        comparisons: those of one machine, oldest first.
        requirement: whose releases they are.

    Returns:
        Each such release, as ``numpy 2.4.0``, to the reason.
    """
    reasons: dict[str, str] = {}
    for comparison in comparisons:
        header = comparison.header
        if header.kind == "release" and requirement in header.after.requirements:
            before, after = header.before.release, header.after.release
            failed = comparison.failed_import
            reasons[before] = failed.failed if failed and failed.failed_before else ""
            if not reasons[before]:  # else the later one was not tried
                reasons[after] = failed.failed if failed else ""
    return {release: reason for release, reason in reasons.items() if reason}


def release_histories(
    comparisons: Mapping[str, Sequence[StoredComparison]],
    versions: Mapping[str, str] = {},
) -> tuple[ReleaseHistory, ...]:
    """Gather the interleaved comparisons of neighbouring releases.

    Args:
        comparisons: Machine to its comparisons, oldest first.
        versions: Commits to the versions of the package that they are.

    Returns:
        A history for each machine and requirement whose releases it compared, and for its
        versions of the package: the one that measured on the latest day first, then the one
        with the most steps.
    """
    histories = []
    for machine, of_machine in comparisons.items():
        for requirement in dict.fromkeys(c.header.requirement for c in of_machine):
            steps = release_steps(of_machine, requirement, versions)
            releases = tuple(sorted({name for pair in steps for name in pair}, key=release_order))
            neighbours = [steps[pair] for pair in pairwise(releases) if pair in steps]
            if neighbours:
                recipes = [step.recipe for step in neighbours]
                nulls = tuple(
                    c
                    for c in of_machine
                    if c.header.kind == "null"
                    and requirement in c.header.after.requirements
                    and c.header.recipe in recipes
                )
                with_newest = tuple(
                    steps[older, releases[-1]]
                    for older in reversed(releases[:-2])
                    if (older, releases[-1]) in steps
                )
                newest_first = tuple(reversed(neighbours))
                histories.append(
                    ReleaseHistory(
                        machine, requirement, releases, newest_first, with_newest, nulls
                    )
                )
    histories.sort(
        key=lambda history: (
            -max(day for step in history.steps for day in step.days),
            -len(history.steps),
            history.machine,
        )
    )
    return tuple(histories)


def chain(history: ReleaseHistory, case: str) -> tuple[RelativeTime, ...]:
    """Times of a case in each release relative to the newest one, by the steps between neighbours.

    The chain goes back from the newest release, and ends where a step has no ratio.

    Returns:
        The oldest release first; empty where the first step has no ratio.
    """
    newest_first = [RelativeTime(history.releases[-1], 1.0, (1.0, 1.0))]
    logarithm = variance = variance_of_variance = 0.0
    for step in history.steps:
        ratio = step.ratios.get(case)
        if ratio is None or newest_first[-1].release != step.after:
            break
        rounds = len(ratio.ratios)
        of_step = standard_error(ratio.interval, rounds) ** 2
        logarithm -= math.log(ratio.ratio)
        variance += of_step
        variance_of_variance += of_step**2 / (rounds - 1)
        reach = 0.0
        if variance_of_variance > 0:
            # Welch and Satterthwaite's degrees of freedom of a sum of variances
            reach = quantile(variance**2 / variance_of_variance) * math.sqrt(variance)
        interval = (math.exp(logarithm - reach), math.exp(logarithm + reach))
        newest_first.append(RelativeTime(step.before, math.exp(logarithm), interval))
    return tuple(reversed(newest_first)) if len(newest_first) > 1 else ()


def relative_times(history: ReleaseHistory, case: str) -> tuple[RelativeTime, ...]:
    """Return times of a case in each release relative to the newest one.

    Where a release was compared with the newest one it is that ratio, elsewhere the chain's.

    Returns:
        The oldest release first; empty where neither leads to any.
    """
    newest = history.releases[-1]
    times = {time.release: time for time in chain(history, case)}
    for step in (*history.steps, *history.with_newest):
        ratio = step.ratios.get(case)
        if ratio is not None and step.after == newest:
            low, high = ratio.interval
            times[newest] = RelativeTime(newest, 1.0, (1.0, 1.0))
            times[step.before] = RelativeTime(step.before, 1 / ratio.ratio, (1 / high, 1 / low))
    return tuple(times[release] for release in history.releases if release in times)


@dataclass(frozen=True, slots=True)
class ReleaseFinding:
    """A case that differs between two releases on one day at least."""

    case: str
    """As asv names it."""
    days: tuple[CaseRatio, ...]
    """The newest comparison of each day (UTC), oldest first."""

    @property
    def shown(self) -> CaseRatio:
        """The newest comparison that shows a difference."""
        return next(ratio for ratio in reversed(self.days) if _differs(ratio))

    @property
    def agreeing(self) -> int:
        """On how many days it differs in the direction that is shown."""
        return [verdict(ratio) for ratio in self.days].count(verdict(self.shown))

    @property
    def is_refuted(self) -> bool:
        """Whether the newest day shows no difference and excludes those of all earlier days."""
        low, high = self.days[-1].interval
        earlier = [ratio.ratio for ratio in self.days if _differs(ratio)]
        return not any(low <= ratio <= high for ratio in earlier)

    @property
    def uncertainty(self) -> tuple[int, float]:
        """Sort key: differing days, then the distance of the interval from 1, both negative."""
        return (-self.agreeing, -min(abs(math.log(end)) for end in self.shown.interval))

    @property
    def state(self) -> str:
        """Whether it is measured, and on how many days."""
        if self.is_refuted:
            return "refuted"
        days = "1 day" if len(self.days) == 1 else f"{self.agreeing} of {len(self.days)} days"
        return f"measured on {days}"


def release_findings(step: ReleaseStep) -> tuple[ReleaseFinding, ...]:
    """List the cases that differ between two releases, the most certain first.

    That is the one that differs on most days, then the one whose interval lies farthest from 1.
    """
    findings = []
    for case, newest in step.ratios.items():
        of_day = {ratio.at // _DAY: ratio for ratio in (*step.earlier.get(case, ()), newest)}
        days = tuple(of_day.values())
        if any(map(_differs, days)):
            findings.append(ReleaseFinding(case, days))
    findings.sort(key=lambda found: (found.is_refuted, *found.uncertainty))
    return tuple(findings)


def _differs(ratio: CaseRatio) -> bool:
    return verdict(ratio) is not Verdict.SAME
