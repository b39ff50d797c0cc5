"""Torch releases compared interleaved, each with the one before it, as one history per machine.

The newest ratio of a case decides, by the rule of interleaved comparisons (`ratio.verdict`). A
chain of ratios gives the time of a case in each release relative to a later one; the variances of
the logarithms add up along it. Of development builds only the newest counts, and only until a
release follows it; it is no link of a chain.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from asv_watch.records.comparisons import CaseRatio, StoredComparison, Unmeasured
from asv_watch.records.release_order import is_development, release_order
from asv_watch.records.releases import IMPORT_CASE
from asv_watch.statistics.ratio import quantile, standard_error, verdict
from asv_watch.statistics.rule import Verdict

_DAY = 86_400  # s


@dataclass(frozen=True, slots=True)
class ReleaseStep:
    """Two torch releases, compared case by case with the same package on both sides."""

    before: str
    """The older release of torch."""
    after: str
    commits: dict[str, str] = field(default_factory=dict)
    """Case to the commit of the package that ran on both sides."""
    ratios: dict[str, CaseRatio] = field(default_factory=dict)
    """Case to its newest ratio."""
    earlier: dict[str, list[CaseRatio]] = field(default_factory=lambda: defaultdict(list))
    """Case to its ratios before the newest, oldest first."""
    unmeasured: dict[str, Unmeasured] = field(default_factory=dict)
    """Case that was skipped or failed to why; it may have a ratio from another day."""
    recipe: dict[str, float | str] = field(default_factory=dict)
    """How the newest ratios were taken."""
    days: set[int] = field(default_factory=set)
    """When it was measured, days since the epoch (UTC)."""

    @property
    def was_repeated(self) -> bool:
        """Whether it was measured on several days."""
        return len(self.days) > 1


@dataclass(frozen=True, slots=True)
class ReleaseNoise:
    """Ratios of releases compared with themselves by one method (A/A), without imports."""

    steps: tuple[ReleaseStep, ...]
    """The comparisons of neighbours by this method, newest first."""
    releases: tuple[str, ...]
    """Those that were compared with themselves."""
    ratios: int
    deviation: float
    """Standard deviation of the logarithm of a ratio, around 0."""
    worst: float
    """Largest absolute logarithm of a ratio."""
    false_alarms: int
    """Ratios that the rule calls a difference."""


@dataclass(frozen=True, slots=True)
class ReleaseHistory:
    """All releases that a machine compared interleaved."""

    machine: str
    releases: tuple[str, ...]
    """Oldest first, without the development build."""
    steps: tuple[ReleaseStep, ...]
    """Newest first; those between neighbouring releases before others of the same release."""
    development: str = ""
    """The development build that was compared, if there is any."""
    nulls: tuple[StoredComparison, ...] = ()
    """Comparisons of a release with itself, by any method."""

    @property
    def versions(self) -> tuple[str, ...]:
        """The releases and the development build, oldest first."""
        return (*self.releases, self.development) if self.development else self.releases

    @property
    def neighbours(self) -> tuple[ReleaseStep, ...]:
        """The steps between neighbouring releases, newest first."""
        pairs = set(pairwise(self.releases))
        return tuple(step for step in self.steps if (step.before, step.after) in pairs)

    @property
    def noise(self) -> tuple[ReleaseNoise, ...]:
        """The noise of each method that is known of neighbours' newest comparisons."""
        by_recipe: dict[frozenset[tuple[str, float | str]], list[ReleaseStep]] = defaultdict(list)
        for step in self.neighbours:
            by_recipe[frozenset(step.recipe.items())].append(step)
        known = (_noise(steps, self.nulls) for steps in by_recipe.values())
        return tuple(noise for noise in known if noise is not None)


@dataclass(frozen=True, slots=True)
class RelativeTime:
    """Time of a case in a release over that in a later one, mostly the newest."""

    release: str
    ratio: float
    interval: tuple[float, float]
    """Confidence interval (99 %); of the later release it has no width."""
    is_direct: bool = False
    """Whether the two were compared with each other; otherwise neighbours' ratios were
    multiplied."""


def release_histories(
    comparisons: Mapping[str, Sequence[StoredComparison]],
) -> tuple[ReleaseHistory, ...]:
    """Gather the interleaved comparisons of torch releases.

    Args:
        comparisons: Machine to its comparisons, oldest first.

    Returns:
        A history for each machine that compared releases: the one with the most steps first.
    """
    histories = []
    for machine, of_machine in comparisons.items():
        steps: dict[tuple[str, str], ReleaseStep] = {}
        for comparison in of_machine:
            before, after = comparison.header.before, comparison.header.after
            if comparison.header.kind != "release" or before.commit != after.commit:
                continue
            pair = (before.torch, after.torch)
            step = steps.setdefault(pair, ReleaseStep(*pair))
            step.days.add(comparison.header.at // _DAY)
            for unmeasured in comparison.unmeasured:
                step.commits.setdefault(unmeasured.case, after.commit)
                step.unmeasured[unmeasured.case] = unmeasured
            for ratio in comparison.ratios:
                if ratio.case in step.ratios:
                    step.earlier[ratio.case].append(step.ratios[ratio.case])
                step.commits[ratio.case] = after.commit
                step.recipe.clear()
                step.recipe.update(comparison.header.recipe)
                step.ratios[ratio.case] = ratio
        versions = sorted({name for pair in steps for name in pair}, key=release_order)
        releases = tuple(name for name in versions if not is_development(name))
        if releases:
            development = versions[-1] if is_development(versions[-1]) else ""
            ordered = sorted(
                (step for pair, step in steps.items() if {*pair} <= {*releases, development}),
                key=lambda step: (release_order(step.after), release_order(step.before)),
                reverse=True,
            )
            nulls = tuple(c for c in of_machine if c.header.kind == "null")
            histories.append(ReleaseHistory(machine, releases, tuple(ordered), development, nulls))
    histories.sort(key=lambda history: (-len(history.steps), history.machine))
    return tuple(histories)


def chain(history: ReleaseHistory, case: str, later: str) -> tuple[RelativeTime, ...]:
    """Times of a case in each release relative to a later one.

    The chain goes back from the later release, and ends where a step between neighbours has no
    ratio.

    Args:
        history: of the releases.
        case: as asv names it.
        later: one of the releases.

    Returns:
        The oldest release first; empty where the first step has no ratio.
    """
    newest_first = [RelativeTime(later, 1.0, (1.0, 1.0))]
    logarithm = variance = variance_of_variance = 0.0
    for step in history.neighbours:
        if release_order(step.after) > release_order(later):
            continue
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


def _noise(steps: Sequence[ReleaseStep], nulls: Sequence[StoredComparison]) -> ReleaseNoise | None:
    """Describe the A/A comparisons by the recipe of some steps, if there are any."""
    of_recipe = [null for null in nulls if null.header.recipe == steps[0].recipe]
    ratios = [ratio for null in of_recipe for ratio in null.ratios if ratio.case != IMPORT_CASE]
    if not ratios:
        return None
    logarithms = [math.log(ratio.ratio) for ratio in ratios]
    releases = {null.header.after.torch for null in of_recipe}
    return ReleaseNoise(
        steps=tuple(steps),
        releases=tuple(sorted(releases, key=release_order, reverse=True)),
        ratios=len(ratios),
        deviation=math.sqrt(sum(value**2 for value in logarithms) / len(logarithms)),
        worst=max(map(abs, logarithms)),
        false_alarms=sum(verdict(ratio) is not Verdict.SAME for ratio in ratios),
    )
