"""All comparisons of a machine, as one graph for each case, and how precise they are.

This is the one place that combines sittings. Versions are nodes, and every stored comparison is a
star, whatever it was made for. Comparisons of a version with itself (``null``, ``planted``) are
left out. Whatever a page, a report or a command says about two versions is a query of a graph, of
commits (`MachineGraphs.commits`) or of releases (`MachineGraphs.releases`).

A comparison shows a change if its interval excludes 1 and the ratio is at least `MINIMUM_EFFECT`
away from 1. So the smallest **detectable** change is half the width of the interval, but at least
that effect. For a case it is the median over its newest comparisons, each of one sitting. If a
version was compared with itself (A/A), every difference from 1 is noise.

`asv_watch.statistics.graph` holds the mathematics, ``docs/measuring.md`` the rule by hand.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import permutations
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

import msgspec

from asv_watch.comparison import DAY, Comparison, Metric, Ratio, Sitting, is_import
from asv_watch.records.store import read_record
from asv_watch.statistics.graph import Estimate, RatioGraph, Star, deviation_of, fit_between
from asv_watch.statistics.rule import MINIMUM_EFFECT, verdict
from asv_watch.text import quantities

Node = Hashable

OF_ITSELF = frozenset({"null", "planted"})
"""Kinds of comparisons of a version with itself."""
BETWEEN_SITTINGS: dict[Metric, float] = {"time": 0.003, "memory": 0.0135}
"""Median of the standard deviations of cases' ratios from one sitting to another, until a machine
has shown its own. Some cases vary more, so one without repeats is taken to vary by the root of
their mean square: 0.53 % for times, 1.9 % for memory. On this project's first two machines the
repeats alone show 0.34 to 0.66 % for times, 1.4 % for memory."""

_Named = Sequence[tuple[Sequence[Node], Comparison]]
"""Comparisons, each with the nodes of its versions."""


class CaseGraph(RatioGraph[Node]):
    """The versions that one machine compared in one case."""

    def __init__(self, comparisons: _Named, between: float, usual_spread: float = 0.0) -> None:
        """Gather what is known of a case.

        Args:
            comparisons: at least one with levels, oldest first.
            between: standard deviation of its ratios between sittings.
            usual_spread: usual standard deviation of rounds' ratios on the machine.
        """
        stars: list[Star[Node]] = []
        self._comparisons: list[Comparison] = []
        for nodes, comparison in comparisons:
            star = comparison.star(usual_spread)
            if star is not None:
                named = tuple(nodes[side] for side in star.nodes)
                stars.append(Star(named, star.levels, star.variances, star.freedom))
                self._comparisons.append(comparison)
        super().__init__(stars, between)
        self._ratios: dict[tuple[Node, Node], Ratio | None] = {}

    @cached_property
    def pairs(self) -> Mapping[tuple[Node, Node], tuple[Ratio, ...]]:
        """Maps each pair that was compared, in either order, to its sittings' ratios."""
        pairs: dict[tuple[Node, Node], list[Ratio]] = defaultdict(list)
        for comparison, star in zip(self._comparisons, self.stars, strict=True):
            sides = zip(comparison.measured_sides, star.nodes, strict=True)
            for (before, old), (after, new) in permutations(sides, 2):
                ratio = comparison.ratio(before, after)
                if ratio is not None:
                    pairs[old, new].append(ratio)
        return {pair: tuple(ratios) for pair, ratios in pairs.items()}

    @cached_property
    def _levels(self) -> dict[Node, float]:
        values: dict[Node, list[float]] = defaultdict(list)
        for (_, new), ratios in self.pairs.items():
            values[new] += (math.log(ratio.after) for ratio in ratios)
        return {node: fmean(logs) for node, logs in values.items()}

    def ratio(self, before: Node, after: Node) -> Ratio | None:
        """Return the ratio of two nodes by all paths between them; ``None`` if there is none."""
        if (before, after) not in self._ratios:
            self._ratios[before, after] = self._ratio(before, after)
        return self._ratios[before, after]

    def _ratio(self, before: Node, after: Node) -> Ratio | None:
        estimate = self.estimate(before, after)
        if estimate is None:
            return None
        sittings = self.pairs.get((before, after), ())
        if sittings:
            level = fmean(math.log(ratio.before * ratio.after) / 2 for ratio in sittings)
        else:
            level = (self._levels[before] + self._levels[after]) / 2
        ratio = _with_values(self._comparisons[-1], estimate, level, sittings)
        if not ratio.differs:
            return ratio
        days = self._days_showing(ratio, before, after)
        return msgspec.structs.replace(ratio, days_showing=days)

    @cached_property
    def _days(self) -> tuple[RatioGraph[Node], ...]:
        """The graphs of what was measured on one day (UTC) each."""
        by_day: dict[int, list[Star[Node]]] = defaultdict(list)
        for comparison, star in zip(self._comparisons, self.stars, strict=True):
            by_day[comparison.at // DAY].append(star)
        return tuple(RatioGraph(stars, self.between) for stars in by_day.values())

    def _days_showing(self, ratio: Ratio, before: Node, after: Node) -> int:
        estimates = (day.estimate(before, after) for day in self._days)
        verdicts = [
            verdict(day.ratio, day.interval, higher_is_better=ratio.higher_is_better)
            for day in estimates
            if day is not None
        ]
        return verdicts.count(ratio.verdict)

    def contradictions(self) -> Iterator[bool]:
        """Tell for each further version of each comparison whether others contradict its ratio.

        That is its ratio to the first version; pairs that no other path connects are left out.
        """
        for index, star in enumerate(self.stars):
            others = self.without(index)
            for position, node in enumerate(star.nodes[1:], start=1):
                expected = others.estimate(star.nodes[0], node) if others else None
                if expected is not None:
                    yield _contradict(star.estimate(0, position, self.between), expected)


def _contradict(found: Estimate, expected: Estimate) -> bool:
    """Tell whether two estimates differ by more than their errors allow in 99 % of pairs."""
    variance = found.variance + expected.variance
    parts = found.variance**2 / found.freedom + expected.variance**2 / expected.freedom
    low, high = Estimate(found.log - expected.log, variance, variance**2 / parts).interval
    return not low <= 1 <= high


def _with_values(
    example: Comparison, estimate: Estimate, level: float, sittings: tuple[Ratio, ...]
) -> Ratio:
    """Return a ratio with values that belong to it.

    ``level`` is the mean logarithm of the values of both sides.
    """
    return Ratio(
        case=example.case,
        unit=example.unit,
        ratio=estimate.ratio,
        interval=estimate.interval,
        before=math.exp(level - estimate.log / 2),
        after=math.exp(level + estimate.log / 2),
        higher_is_better=example.higher_is_better,
        clock="process" if any(ratio.clock for ratio in sittings) else "",
        at=sittings[-1].at if sittings else example.at,
        rounds=sum(ratio.rounds for ratio in sittings),
        sittings=sittings,
    )


class _Graphs(NamedTuple):
    """The graphs of cases, and the deviation between sittings of a case without one."""

    of_cases: dict[str, CaseGraph]
    usual_between: dict[Metric, float]


class MachineGraphs:
    """The graphs of all cases of one machine, and how precise it is."""

    def __init__(
        self, comparisons: Sequence[Comparison], versions: Mapping[str, str] = {}
    ) -> None:
        """Gather the comparisons of a machine; graphs are solved when they are asked for.

        Args:
            comparisons: the machine's comparisons, oldest first; those of cases with each other
                say nothing about versions.
            versions: maps commit hashes to versions of the package.
        """
        self.comparisons = [each for each in comparisons if not each.cases]
        self.versions = versions
        self._releases: dict[str, dict[str, CaseGraph]] = {}

    @cached_property
    def usual_spread(self) -> dict[Metric, float]:
        """Median standard deviation of rounds' ratios, without imports, by metric."""
        spreads: dict[Metric, list[float]] = {"time": [0.0], "memory": [0.0]}
        for comparison in self.comparisons:
            star = None if is_import(comparison.case) else comparison.star(0.0)
            if star is not None:
                squares = 2 * fmean(star.variances) * (star.freedom + 1)
                spreads[comparison.metric].append(math.sqrt(squares))
        return {metric: median(values[1:] or [0.0]) for metric, values in spreads.items()}

    @cached_property
    def _commits(self) -> _Graphs:
        return self._graphs(lambda sitting: [version.key for version in sitting.versions])

    @property
    def usual_between(self) -> dict[Metric, float]:
        """Standard deviation of ratios between sittings, of cases without repeats, by metric."""
        return self._commits.usual_between

    @property
    def commits(self) -> dict[str, CaseGraph]:
        """Maps each case in which versions were compared to its graph of `VersionKey`."""
        return self._commits.of_cases

    def releases(self, requirement: str) -> dict[str, CaseGraph]:
        """Return the graph of each case whose nodes are releases, as `release_names` has them."""
        if requirement not in self._releases:
            named = partial(self.release_names, requirement=requirement)
            self._releases[requirement] = self._graphs(named).of_cases
        return self._releases[requirement]

    def release_names(self, sitting: Sitting, requirement: str) -> list[str]:
        """Return the release of each side of a sitting that compared releases; else nothing.

        Args:
            sitting: differs in nothing but releases: all sides run one commit of the project, any
                commit. Versions of the package itself may also be joined by other commits.
            requirement: whose releases they are (``2.4.0``); if empty, versions of the package,
                and the hashes of other commits.
        """
        commits = [version.commit for version in sitting.versions]
        if sitting.requirement != requirement or sitting.kind in OF_ITSELF:
            return []
        if not requirement:
            return [self.versions.get(commit, commit) for commit in commits]
        if sitting.kind != "release" or len(set(commits)) > 1:
            return []
        return [version.requirements[requirement] for version in sitting.versions]

    def _graphs(self, nodes_of: Callable[[Sitting], Sequence[Node]]) -> _Graphs:
        """Return the graph of each case; a sitting without nodes is in none."""
        by_case: dict[str, list[tuple[Sequence[Node], Comparison]]] = defaultdict(list)
        for comparison in self.comparisons:
            nodes = nodes_of(comparison.sitting)
            of_itself = comparison.sitting.kind in OF_ITSELF or len(set(nodes)) < len(nodes)
            if nodes and not of_itself and comparison.star_of_rounds is not None:
                by_case[comparison.case].append((nodes, comparison))
        graphs = _Graphs({}, {})
        for metric, middle in BETWEEN_SITTINGS.items():
            cases = {
                case: CaseGraph(compared, middle, self.usual_spread[metric])
                for case, compared in by_case.items()
                if compared[-1][1].metric == metric
            }
            weights = fit_between([g for case, g in cases.items() if not is_import(case)], middle)
            graphs.usual_between[metric] = deviation_of(weights)
            for graph in cases.values():
                graph.between = deviation_of(weights * graph.likelihoods)
            graphs.of_cases.update(cases)
        return graphs

    def alone(
        self, comparison: Comparison, before: int, after: int, least_spread: float = 0.0
    ) -> Ratio | None:
        """Return the ratio of one comparison, with the interval that the graph would give.

        ``least_spread`` is a lower bound of the usual spread, such as that of the other cases of a
        comparison that is not stored.
        """
        usual = max(self.usual_spread[comparison.metric], least_spread)
        star, ratio = comparison.star(usual), comparison.ratio(before, after)
        if star is None or ratio is None:
            return ratio
        graph = self.commits.get(comparison.case)
        between = graph.between if graph else self.usual_between[comparison.metric]
        estimate = star.estimate(star.nodes.index(before), star.nodes.index(after), between)
        level = math.log(ratio.before * ratio.after) / 2
        return _with_values(comparison, estimate, level, (ratio,))


def machine_graphs(results: Path, machine: str) -> MachineGraphs:
    """Return the graphs of what a machine has stored; damaged lines are left out."""
    return MachineGraphs(read_record(results, machine)[0])


NEWEST = 5
"""Number of newest comparisons of a case that count."""


class Detectable(msgspec.Struct, frozen=True):
    """The smallest relative changes that comparisons on one machine can show."""

    by_case: Mapping[str, float]
    """Maps the name of a case to its smallest change (0.015 is 1.5 %); at least one case."""

    @property
    def middle(self) -> float:
        """Median of the cases (0.015 is 1.5 %)."""
        return median(self.by_case.values())

    @property
    def ninth_decile(self) -> float:
        """90th percentile of the cases (0.015 is 1.5 %)."""
        return sorted(self.by_case.values())[math.ceil(0.9 * len(self.by_case)) - 1]

    def __str__(self) -> str:
        cases = quantities.counted(len(self.by_case), "case")
        middle, high = map(quantities.share, (self.middle, self.ninth_decile))
        return f"median {middle}, 90th percentile {high} of {cases}"


def smallest_changes(comparisons: Sequence[Comparison], graphs: MachineGraphs) -> Detectable:
    """Return the smallest changes that a machine's newest comparisons of times show."""
    by_case: dict[str, list[Comparison]] = defaultdict(list)
    for comparison in comparisons:
        if comparison.metric == "time" and len(comparison.measured_sides) > 1:
            by_case[comparison.case].append(comparison)
    intervals = {
        case: [
            ratio.interval
            for each in measured[-NEWEST:]
            if (ratio := graphs.alone(each, *each.measured_sides[:2])) is not None
        ]
        for case, measured in by_case.items()
    }
    return Detectable(
        {
            case: median(max(MINIMUM_EFFECT, math.sqrt(high / low) - 1) for low, high in known)
            for case, known in intervals.items()
            if known
        }
    )


def noise_in_words(ratios: Sequence[Ratio]) -> str:
    """Say how far the ratios of a version to itself are from 1.

    The standard deviation is of their logarithms, about the true 0.
    """
    sizes = [abs(math.log(ratio.ratio)) for ratio in ratios]
    false_alarms = sum(ratio.differs for ratio in ratios)
    return (
        f"{quantities.share(math.sqrt(fmean(size**2 for size in sizes)))} (standard deviation), "
        f"{quantities.share(math.expm1(max(sizes)))} at worst. "
        f"{false_alarms or 'None'} of them counted as a change"
    )


def ratios_to_first(comparisons: Sequence[Comparison], graphs: MachineGraphs) -> list[Ratio]:
    """Return the ratio of each further side of comparisons to the first."""
    pairs = ((each, side) for each in comparisons for side in each.measured_sides[1:])
    ratios = (graphs.alone(each, 0, side) for each, side in pairs)
    return [ratio for ratio in ratios if ratio is not None]


def newest_repeats(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the newest A/A comparisons with one recipe."""
    repeated = [each for each in comparisons if each.sitting.kind == "null"]
    return [
        each
        for each in repeated
        if each.sitting.versions == repeated[-1].sitting.versions
        and each.sitting.recipe == repeated[-1].sitting.recipe
    ]
