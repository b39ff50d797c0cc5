"""Interleaved comparisons of neighbouring releases on each machine, and what differs.

They are releases of a requirement, with the same package on all sides, or versions of the package
itself: commits that a tag or ``results/notes.toml`` names, in the same environment.

All comparisons of two releases count, also those by way of other releases: the graph of each case
gives the ratio (`asv_watch.judge.graph`), and the rule says whether they differ
(`asv_watch.statistics.rule`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise

import msgspec

from asv_watch.comparison import (
    DAY,
    Comparison,
    Outcome,
    Ratio,
    Sitting,
    import_case,
    is_import,
)
from asv_watch.judge.graph import CaseGraph, MachineGraphs, Node
from asv_watch.versions.releases import Release, release_order
from asv_watch.versions.version import Version, VersionKey

RatioOf = Callable[[str, str, str], Ratio | None]
"""Gives the measured ratio for a case's name, the release before and the release after."""


class ReleaseStep(msgspec.Struct, frozen=True):
    """Two releases, compared case by case with everything else the same on both sides."""

    before: str
    """The older release, such as ``2.3.0``."""
    after: str
    ratios: dict[str, Ratio] = msgspec.field(default_factory=dict)
    """Maps each compared case to its ratio."""
    commits: dict[str, str] = msgspec.field(default_factory=dict)
    """Maps a case to the package's commit in its newest comparison."""
    unmeasured: dict[str, tuple[Outcome, str]] = msgspec.field(default_factory=dict)
    """Maps a skipped or failed case to the reason; it may have a ratio from another day."""
    recipe: dict[str, float | str] = msgspec.field(default_factory=dict)
    """How the newest ratios of times were taken."""
    days: set[int] = msgspec.field(default_factory=set)
    """When ratios were measured, days since the epoch (UTC)."""

    @property
    def times(self) -> dict[str, Ratio]:
        """Maps each timed case to its ratio."""
        return {case: ratio for case, ratio in self.ratios.items() if ratio.metric == "time"}

    @property
    def counts(self) -> dict[str, Ratio]:
        """Maps each case of an exact count to its newest values."""
        return {case: ratio for case, ratio in self.ratios.items() if ratio.exact}

    @property
    def findings(self) -> list[Ratio]:
        """The ratios that differ, the most certain first."""
        differing = [ratio for ratio in self.ratios.values() if ratio.differs and not ratio.exact]
        return sorted(differing, key=lambda r: -min(abs(math.log(end)) for end in r.interval))

    def add(self, comparison: Comparison, before: int, after: int) -> None:
        """Add a comparison of both releases that is newer than those before."""
        case, sitting = comparison.case, comparison.sitting
        self.days.add(sitting.at // DAY)
        self.commits[case] = sitting.versions[after].commit
        ratio = comparison.ratio(before, after)
        if ratio is None:
            self.unmeasured[case] = comparison.why_no_ratio(before, after)
        elif ratio.exact:
            self.ratios[case] = ratio
        elif ratio.metric == "time":
            self.recipe.clear()
            self.recipe.update(sitting.recipe)


class ReleaseHistory(msgspec.Struct, frozen=True):
    """All releases of a requirement, or of the package, that a machine compared interleaved."""

    machine: str
    requirement: str
    """Such as ``numpy``; empty for the package itself."""
    releases: tuple[str, ...]
    """Oldest first."""
    steps: tuple[ReleaseStep, ...]
    """Comparisons of neighbouring releases, newest first."""
    relative: Mapping[str, Mapping[str, Ratio]]
    """Maps a case to its ratio from the newest release to each earlier one, oldest first."""
    ratio: RatioOf
    """Gives the ratio of a case between two of the releases."""
    null_ratios: tuple[Ratio, ...] = ()
    """Ratios of a release to itself (A/A), with the recipes of the steps: their distance from 1 is
    noise."""


def release_ratios(
    graphs: MachineGraphs, requirement: str, versions: Mapping[str, str]
) -> RatioOf:
    """Return a function that gives the ratio of a case between two releases on a machine.

    Args:
        graphs: the graphs of the machine.
        requirement: whose releases they are; versions of the package itself if empty.
        versions: maps commit hashes to versions of the package.
    """
    if requirement:
        case_graphs = graphs.releases(requirement)

        def ratio_of_releases(case: str, before: str, after: str) -> Ratio | None:
            graph = case_graphs.get(case)
            return graph.ratio(before, after) if graph else None

        return ratio_of_releases

    def ratio_of_versions(case: str, before: str, after: str) -> Ratio | None:
        graph = graphs.commits(case)
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
    comparisons: Sequence[Comparison],
    requirement: str,
    versions: Mapping[str, str] = {},
    graphs: MachineGraphs | None = None,
) -> dict[tuple[str, str], ReleaseStep]:
    """Gather the comparisons of releases that differ in nothing else.

    Args:
        comparisons: those of one machine, oldest first.
        requirement: whose releases were compared; versions of the package itself if empty.
        versions: maps commit hashes to versions of the package.
        graphs: graphs of the same comparisons, if they are known already.

    Returns:
        Maps the older and the later release to their comparisons.
    """
    steps: dict[tuple[str, str], ReleaseStep] = {}
    for comparison in comparisons:
        if is_import(comparison.case) and comparison.failed:
            continue  # a release could not be installed or imported
        names = _release_names(comparison.sitting, requirement, versions)
        indexed = sorted(
            ((name, index) for index, name in enumerate(names) if name),
            key=lambda each: release_order(each[0]),
        )
        for (before, old), (after, new) in combinations(indexed, 2):
            if before != after:
                step = steps.setdefault((before, after), ReleaseStep(before, after))
                step.add(comparison, old, new)
    ratio_of = release_ratios(graphs or MachineGraphs(comparisons), requirement, versions)
    for pair, step in steps.items():
        for case in step.commits:
            ratio = ratio_of(case, *pair)
            if ratio is not None:
                step.ratios[case] = ratio
    return steps


def _release_names(sitting: Sitting, requirement: str, versions: Mapping[str, str]) -> list[str]:
    """Return the release of each side of a sitting that compared releases; else nothing."""
    if sitting.requirement != requirement or sitting.kind == "planted":
        return []
    if not requirement:
        return [versions.get(version.commit, "") for version in sitting.versions]
    if sitting.kind != "release" or len({version.commit for version in sitting.versions}) > 1:
        return []
    return [version.requirements[requirement] for version in sitting.versions]


def failed_releases(comparisons: Sequence[Comparison], requirement: str) -> dict[Release, str]:
    """Return the releases that could not be installed or imported when they were last tried.

    Args:
        comparisons: those of one machine, oldest first.
        requirement: whose releases they are.

    Returns:
        Maps each such release to the reason.
    """
    reasons: dict[Release, str] = {}
    for comparison in comparisons:
        versions: tuple[Version, ...] = comparison.sitting.versions
        if comparison.sitting.kind != "release" or requirement not in versions[-1].requirements:
            continue
        imported = comparison.case == import_case(versions[-1].release.name)
        for index, version in enumerate(versions):
            if imported or comparison.numbers(index):
                reasons[version.release] = comparison.failed.get(index, "")
            if imported and index in comparison.failed:
                break  # those after it were not tried
    return {release: reason for release, reason in reasons.items() if reason}


def release_histories(
    comparisons: Mapping[str, Sequence[Comparison]],
    graphs: Mapping[str, MachineGraphs],
    versions: Mapping[str, str] = {},
) -> tuple[ReleaseHistory, ...]:
    """Gather the interleaved comparisons of neighbouring releases.

    Args:
        comparisons: maps a machine to its comparisons, oldest first.
        graphs: maps a machine to the graphs of the same comparisons.
        versions: maps commit hashes to versions of the package.

    Returns:
        A history for each machine and requirement whose releases it compared, and for its
        versions of the package. Histories that reach the newest release of all machines come
        first; of these, the one whose neighbouring releases were compared on the most days.
    """
    histories = []
    for machine, of_machine in comparisons.items():
        for requirement in dict.fromkeys(each.sitting.requirement for each in of_machine):
            steps = release_steps(of_machine, requirement, versions, graphs[machine])
            releases = tuple(sorted({name for pair in steps for name in pair}, key=release_order))
            neighbours = [steps[pair] for pair in pairwise(releases) if pair in steps]
            if not neighbours:
                continue
            cases = dict.fromkeys(case for step in steps.values() for case in step.ratios)
            ratio_of = release_ratios(graphs[machine], requirement, versions)
            histories.append(
                ReleaseHistory(
                    machine,
                    requirement,
                    releases,
                    tuple(reversed(neighbours)),
                    {case: relative_ratios(releases, case, ratio_of) for case in cases},
                    ratio_of,
                    _null_ratios(of_machine, requirement, [step.recipe for step in neighbours]),
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


def _null_ratios(
    comparisons: Sequence[Comparison],
    requirement: str,
    recipes: Sequence[Mapping[str, float | str]],
) -> tuple[Ratio, ...]:
    """Return the ratios of times of releases to themselves, by one of these recipes."""
    ratios = (
        each.ratio(0, len(each.sitting.versions) - 1)
        for each in comparisons
        if each.sitting.kind == "null"
        and requirement in each.sitting.versions[-1].requirements
        and each.sitting.recipe in recipes
        and each.metric == "time"
        and each.case != import_case(requirement)
    )
    return tuple(ratio for ratio in ratios if ratio is not None)


def relative_ratios(releases: Sequence[str], case: str, ratio_of: RatioOf) -> dict[str, Ratio]:
    """Return the ratio of a case from the newest release to each earlier one that has it.

    Args:
        releases: oldest first.
        case: as asv names it.
        ratio_of: gives the ratio of two releases.
    """
    ratios = {release: ratio_of(case, releases[-1], release) for release in releases[:-1]}
    return {release: ratio for release, ratio in ratios.items() if ratio is not None}
