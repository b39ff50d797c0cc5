"""Interleaved comparisons of neighbouring releases on each machine, and what differs.

They are releases of a requirement, with the same package on all sides, or versions of the package
itself: commits that a tag or ``results/notes.toml`` names, in the same environment.

All comparisons of two releases count, also those by way of other releases: the graph of each case
gives the ratio (`asv_watch.judge.graph`), and the rule says whether they differ
(`asv_watch.statistics.rule`).
"""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations, pairwise

import msgspec

from asv_watch.comparison import DAY, Comparison, Outcome, Ratio, import_case, is_import
from asv_watch.judge.graph import MachineGraphs
from asv_watch.versions.version import Release, Version, release_order


def certainty(ratio: Ratio) -> float:
    """Return the distance from 1 of the nearer end of an interval, as a logarithm."""
    return min(abs(math.log(end)) for end in ratio.interval)


class ReleaseStep(msgspec.Struct):
    """Two releases, compared case by case with everything else the same on both sides."""

    before: str
    """The older release, such as ``2.3.0``."""
    after: str
    ratios: dict[str, Ratio] = {}
    """Maps each compared case to its ratio."""
    commits: dict[str, str] = {}
    """Maps a case to the package's commit in its newest comparison."""
    unmeasured: dict[str, tuple[Outcome, str]] = {}
    """Maps a skipped or failed case to the reason; it may have a ratio from another day."""
    recipe: dict[str, float | str] = {}
    """How the newest ratios of times were taken."""
    days: set[int] = set()
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
        return sorted(differing, key=certainty, reverse=True)

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
            self.recipe = sitting.recipe


class ReleaseHistory(msgspec.Struct, frozen=True, dict=True):
    """All releases of a requirement, or of the package, that a machine compared interleaved."""

    machine: str
    requirement: str
    """Such as ``numpy``; empty for the package itself."""
    releases: tuple[str, ...]
    """Oldest first."""
    steps: tuple[ReleaseStep, ...]
    """Comparisons of neighbouring releases, newest first."""
    graphs: MachineGraphs
    """All comparisons of the machine."""

    @property
    def null_ratios(self) -> tuple[Ratio, ...]:
        """Ratios of times of a release to itself (A/A), with the recipes of the steps.

        Their distance from 1 is noise.
        """
        recipes = [step.recipe for step in self.steps]
        ratios = (
            each.ratio(0, len(each.sitting.versions) - 1)
            for each in self.graphs.comparisons
            if each.sitting.kind == "null"
            and self.requirement in each.sitting.versions[-1].requirements
            and each.sitting.recipe in recipes
            and each.metric == "time"
            and each.case != import_case(self.requirement)
        )
        return tuple(ratio for ratio in ratios if ratio is not None)

    def ratio(self, case: str, before: str, after: str) -> Ratio | None:
        """Return the ratio of a case between two of the releases, if comparisons join them."""
        graph = self.graphs.releases(self.requirement).get(case)
        return graph.ratio(before, after) if graph else None

    @cached_property
    def relative(self) -> Mapping[str, Mapping[str, Ratio]]:
        """Maps a case to its ratio from the newest release to each earlier one, oldest first."""
        return {
            case: {
                release: ratio
                for release in self.releases[:-1]
                if (ratio := graph.ratio(self.releases[-1], release)) is not None
            }
            for case, graph in self.graphs.releases(self.requirement).items()
        }


def release_steps(graphs: MachineGraphs, requirement: str) -> dict[tuple[str, str], ReleaseStep]:
    """Gather a machine's comparisons of releases that differ in nothing else.

    Returns:
        Maps the older and the later release to their comparisons. Without a requirement they are
        versions of the package.
    """
    steps: dict[tuple[str, str], ReleaseStep] = {}
    for comparison in graphs.comparisons:
        if is_import(comparison.case) and comparison.failed:
            continue  # a release could not be installed or imported
        names = graphs.release_names(comparison.sitting, requirement)
        if not requirement:
            names = [name if name in graphs.versions.values() else "" for name in names]
        indexed = sorted(
            ((name, index) for index, name in enumerate(names) if name),
            key=lambda each: release_order(each[0]),
        )
        for (before, old), (after, new) in combinations(indexed, 2):
            if before != after:
                step = steps.setdefault((before, after), ReleaseStep(before, after))
                step.add(comparison, old, new)
    for pair, step in steps.items():
        for case in step.commits:
            graph = graphs.releases(requirement).get(case)
            ratio = graph.ratio(*pair) if graph else None
            if ratio is not None:
                step.ratios[case] = ratio
    return steps


def failed_releases(comparisons: Sequence[Comparison], requirement: str) -> dict[Release, str]:
    """Map the releases that could not be installed or imported when last tried to the reasons."""
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
                break  # those after it may not have been tried
    return {release: reason for release, reason in reasons.items() if reason}


def release_histories(graphs: Mapping[str, MachineGraphs]) -> tuple[ReleaseHistory, ...]:
    """Gather the interleaved comparisons of neighbouring releases, by machine.

    Returns:
        A history for each machine and requirement whose releases it compared, and for its
        versions of the package. Histories that reach the newest release of all machines come
        first; of these, the one whose neighbouring releases were compared on the most days.
    """
    histories = []
    for machine, of_machine in graphs.items():
        requirements = (each.sitting.requirement for each in of_machine.comparisons)
        for requirement in dict.fromkeys(requirements):
            steps = release_steps(of_machine, requirement)
            releases = tuple(sorted({name for pair in steps for name in pair}, key=release_order))
            neighbours = [steps[pair] for pair in pairwise(releases) if pair in steps]
            if neighbours:
                newest_first = tuple(reversed(neighbours))
                histories.append(
                    ReleaseHistory(machine, requirement, releases, newest_first, of_machine)
                )
    newest: dict[str, str] = {}
    for history in histories:
        both = newest.get(history.requirement, ""), history.releases[-1]
        newest[history.requirement] = max(both, key=release_order)
    histories.sort(
        key=lambda history: (
            history.releases[-1] != newest[history.requirement],
            -sum(len(step.days) for step in history.steps),
            history.machine,
        )
    )
    return tuple(histories)
