"""Interleaved comparisons of neighbouring releases on each machine, and what differs.

They are releases of a requirement, with the same package on both sides, or versions of the package
itself: commits that a tag or ``results/notes.toml`` names, in the same environment.

All comparisons of two releases count, also those by way of other releases: the graph of each case
gives the ratio (`asv_watch.judge.graph`), and the rule says whether they differ
(`asv_watch.statistics.rule`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import msgspec

from asv_watch.judge.graph import CaseGraph, MachineGraphs, Node, PairRatio
from asv_watch.records.comparisons import (
    CaseRatio,
    CaseValues,
    StoredComparison,
    Unmeasured,
    import_case,
)
from asv_watch.statistics.rule import Verdict, verdict
from asv_watch.versions.releases import Release, release_order
from asv_watch.versions.version import VersionKey

DAY = 86_400  # s


Ratio = Callable[[str, str, str], PairRatio | None]
"""Gives the measured ratio for a case's name, the release before and the release after."""


class ReleaseStep(msgspec.Struct, frozen=True):
    """Two releases, compared case by case with everything else the same on both sides."""

    before: str
    """The older release, such as ``2.3.0``."""
    after: str
    commits: dict[str, str] = msgspec.field(default_factory=dict)
    """Maps a case to the package's commit on the side after, in its newest comparison."""
    values: dict[str, CaseValues] = msgspec.field(default_factory=dict)
    """Maps a case to its newest values: an exact count, or peak memory of one process a side."""
    unmeasured: dict[str, Unmeasured] = msgspec.field(default_factory=dict)
    """Maps a skipped or failed case to the reason; it may have a ratio from another day."""
    recipe: dict[str, float | str] = msgspec.field(default_factory=dict)
    """How the newest ratios of times were taken."""
    days: set[int] = msgspec.field(default_factory=set)
    """When ratios were measured, days since the epoch (UTC)."""
    ratios: dict[str, PairRatio] = msgspec.field(default_factory=dict)
    """Maps each compared case of time or peak memory to its ratio."""

    @property
    def times(self) -> dict[str, PairRatio]:
        """Maps each timed case to its ratio."""
        return {case: ratio for case, ratio in self.ratios.items() if ratio.kind == "time"}

    @property
    def counts(self) -> dict[str, CaseValues]:
        """Maps each case of an exact count to its newest values."""
        return {case: values for case, values in self.values.items() if values.exact}

    def add(self, comparison: StoredComparison) -> None:
        """Add a comparison that is newer than those before."""
        header = comparison.header
        if comparison.ratios or comparison.unmeasured:
            self.days.add(header.at // DAY)
        for unmeasured in comparison.unmeasured:
            self.commits.setdefault(unmeasured.case, header.after.commit)
            self.unmeasured[unmeasured.case] = unmeasured
        for ratio in comparison.ratios:
            self.commits[ratio.case] = header.after.commit
            self.values.pop(ratio.case, None)
        if comparison.times:
            self.recipe.clear()
            self.recipe.update(header.recipe)
        for values in comparison.values:
            self.values[values.case] = values


class ReleaseHistory(msgspec.Struct, frozen=True):
    """All releases of a requirement, or of the package, that a machine compared interleaved."""

    machine: str
    requirement: str
    """Such as ``numpy``; empty for the package itself."""
    releases: tuple[str, ...]
    """Oldest first."""
    steps: tuple[ReleaseStep, ...]
    """Comparisons of neighbouring releases, newest first."""
    times: Mapping[str, tuple[RelativeValue, ...]]
    """Maps a case to its value in each release relative to the newest, oldest release first."""
    ratio: Ratio
    """Gives the ratio of a case between two of the releases."""
    nulls: tuple[StoredComparison, ...] = ()
    """Comparisons of a release with itself, with the recipes of the steps."""

    @property
    def null_ratios(self) -> tuple[CaseRatio, ...]:
        """Ratios of releases to themselves (A/A): their distance from 1 is noise."""
        ratios = (ratio for null in self.nulls for ratio in null.times)
        return tuple(ratio for ratio in ratios if ratio.case != import_case(self.requirement))


class RelativeValue(msgspec.Struct, frozen=True):
    """Time or memory of a case in a release over that in the newest one."""

    release: str
    ratio: float
    interval: tuple[float, float]
    """Confidence interval (99 %); it has no width for the newest release."""


def release_ratios(graphs: MachineGraphs, requirement: str, versions: Mapping[str, str]) -> Ratio:
    """Return a function that gives the ratio of a case between two releases on a machine.

    Args:
        graphs: The graphs of the machine.
        requirement: Whose releases they are; versions of the package itself if empty.
        versions: Maps commit hashes to versions of the package.
    """
    if requirement:
        case_graphs = graphs.releases(requirement)

        def ratio_of_releases(case: str, before: str, after: str) -> PairRatio | None:
            graph = case_graphs.get(case)
            return graph.ratio(before, after) if graph else None

        return ratio_of_releases

    def ratio_of_versions(case: str, before: str, after: str) -> PairRatio | None:
        graph = graphs.versions(case)
        pair = _nodes_of_versions(graph, versions, before, after) if graph else None
        return graph.ratio(*pair) if graph and pair else None

    return ratio_of_versions


def _nodes_of_versions(
    graph: CaseGraph, versions: Mapping[str, str], before: str, after: str
) -> tuple[Node, Node] | None:
    sides: tuple[dict[tuple[Release, str], Node], dict[tuple[Release, str], Node]] = {}, {}
    for node in graph.nodes:
        if isinstance(node, VersionKey):
            for side, version in zip(sides, (before, after), strict=True):
                if versions.get(node.commit) == version:
                    side[node.release, node.python] = node
    joined = [
        environment
        for environment in sides[0]
        if environment in sides[1]
        and graph.part(sides[0][environment]) == graph.part(sides[1][environment])
    ]
    if not joined:
        return None
    newest = max(joined, key=lambda name: (release_order(name[0].version), name))
    return sides[0][newest], sides[1][newest]


def release_steps(
    comparisons: Sequence[StoredComparison],
    requirement: str,
    versions: Mapping[str, str] = {},
    graphs: MachineGraphs | None = None,
) -> dict[tuple[str, str], ReleaseStep]:
    """Gather the comparisons of releases that differ in nothing else.

    Args:
        comparisons: Those of one machine, oldest first.
        requirement: Whose releases were compared; versions of the package itself if empty.
        versions: Maps commit hashes to versions of the package.
        graphs: Graphs of the same comparisons, if they are known already.

    Returns:
        Maps the older and the later release to their comparisons.
    """
    steps: dict[tuple[str, str], ReleaseStep] = {}
    compared: dict[tuple[str, str], dict[str, None]] = {}
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
            names = before, after
            steps.setdefault(names, ReleaseStep(*names)).add(comparison)
            compared.setdefault(names, {}).update(
                {ratio.case: None for ratio in comparison.ratios}
            )
    ratio_of = release_ratios(graphs or MachineGraphs(comparisons), requirement, versions)
    for names, step in steps.items():
        for case in compared[names]:
            ratio = ratio_of(case, *names)
            if ratio is not None:
                step.ratios[case] = ratio
    return steps


def failed_releases(
    comparisons: Sequence[StoredComparison], requirement: str
) -> dict[Release, str]:
    """Return the releases that could not be installed or imported when they were last tried.

    Args:
        comparisons: Those of one machine, oldest first.
        requirement: Whose releases they are.

    Returns:
        Maps each such release to the reason.
    """
    reasons: dict[Release, str] = {}
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
    graphs: Mapping[str, MachineGraphs],
    versions: Mapping[str, str] = {},
) -> tuple[ReleaseHistory, ...]:
    """Gather the interleaved comparisons of neighbouring releases.

    Args:
        comparisons: Maps a machine to its comparisons, oldest first.
        graphs: Maps a machine to the graphs of the same comparisons.
        versions: Maps commit hashes to versions of the package.

    Returns:
        A history for each machine and requirement whose releases it compared, and for its
        versions of the package. Histories that reach the newest release of all machines come
        first; of these, the one whose neighbouring releases were compared on the most days.
    """
    histories = []
    for machine, machine_comparisons in comparisons.items():
        for requirement in dict.fromkeys(c.header.requirement for c in machine_comparisons):
            steps = release_steps(machine_comparisons, requirement, versions, graphs[machine])
            releases = tuple(sorted({name for pair in steps for name in pair}, key=release_order))
            neighbours = [steps[pair] for pair in pairwise(releases) if pair in steps]
            if neighbours:
                recipes = [step.recipe for step in neighbours]
                nulls = tuple(
                    c
                    for c in machine_comparisons
                    if c.header.kind == "null"
                    and requirement in c.header.after.requirements
                    and c.header.recipe in recipes
                )
                cases = dict.fromkeys(case for step in steps.values() for case in step.ratios)
                ratio_of = release_ratios(graphs[machine], requirement, versions)
                times = {case: relative_values(releases, case, ratio_of) for case in cases}
                newest_first = tuple(reversed(neighbours))
                histories.append(
                    ReleaseHistory(
                        machine, requirement, releases, newest_first, times, ratio_of, nulls
                    )
                )
    newest = {
        requirement: max(
            (h.releases[-1] for h in histories if h.requirement == requirement), key=release_order
        )
        for requirement in {history.requirement for history in histories}
    }
    histories.sort(
        key=lambda history: (
            history.releases[-1] != newest[history.requirement],
            -sum(len(step.days) for step in history.steps),
            history.machine,
        )
    )
    return tuple(histories)


def relative_values(
    releases: Sequence[str], case: str, ratio_of: Ratio
) -> tuple[RelativeValue, ...]:
    """Return the value of a case in each release relative to the newest one that has it.

    Args:
        releases: Oldest first.
        case: As asv names it.
        ratio_of: Gives the ratio of two releases.

    Returns:
        The oldest release first; empty if no comparison leads from the newest release to any.
    """
    newest = releases[-1]
    earlier = [(release, ratio_of(case, newest, release)) for release in releases[:-1]]
    values = [
        RelativeValue(release, ratio.ratio, ratio.interval) for release, ratio in earlier if ratio
    ]
    return (*values, RelativeValue(newest, 1.0, (1.0, 1.0))) if values else ()


class ReleaseFinding(msgspec.Struct, frozen=True):
    """A case that differs between two releases."""

    case: str
    """As asv names it."""
    shown: PairRatio
    """By all ways between the two."""

    @property
    def days(self) -> tuple[CaseRatio, ...]:
        """The newest comparison of each day (UTC), oldest first."""
        return tuple({ratio.at // DAY: ratio for ratio in self.shown.stored}.values())

    @property
    def agreeing(self) -> int:
        """Number of days on which the ratio was on the same side of 1 as ``shown``."""
        return sum((ratio.ratio > 1) == (self.shown.ratio > 1) for ratio in self.days)

    @property
    def certainty(self) -> float:
        """Distance of the interval from 1, as a logarithm."""
        return min(abs(math.log(end)) for end in self.shown.interval)

    @property
    def state(self) -> str:
        """On how many days it was measured, and on how many with this sign."""
        if len(self.days) == 1:
            return "measured on 1 day"
        return f"measured on {self.agreeing} of {len(self.days)} days"


def release_findings(step: ReleaseStep) -> tuple[ReleaseFinding, ...]:
    """List the cases that differ between two releases, the most certain first."""
    findings = [
        ReleaseFinding(case, ratio)
        for case, ratio in step.ratios.items()
        if verdict(ratio) is not Verdict.SAME
    ]
    return tuple(sorted(findings, key=lambda finding: -finding.certainty))
