"""All interleaved comparisons of a machine, as one graph for each case.

This is the one place that combines measurements. Versions are nodes, and every stored
comparison of two versions is an edge, whatever it was made for. Comparisons of a version with
itself (``null``, ``planted``) are left out. Whatever a page, a report or a command says about two
versions is a query of this graph:

- `MachineGraphs.versions` is the graph of a case whose nodes are commits, each with its release
  and Python: changes of the code, the Timeline, comparisons of two stored results.
- `MachineGraphs.releases` is the graph of a case whose nodes are the releases of a requirement;
  both sides of its comparisons run one commit of the project.
- `CaseGraph.ratio` gives the ratio of two nodes by all ways between them, with its interval.
- `MachineGraphs.single` gives the ratio of one comparison by itself, as a report prints it.
- `MachineGraphs.checks` compares what was measured with what the other ways say.

`asv_watch.statistics.graph` holds the mathematics, ``docs/measuring.md`` the rule by hand.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from statistics import fmean, median

import msgspec

from asv_watch.records.comparisons import (
    CaseRatio,
    Clock,
    RatioKind,
    StoredComparison,
    is_import,
    ratio_kind,
)
from asv_watch.records.measurements import read_comparisons
from asv_watch.statistics.graph import (
    SITTING,
    Check,
    Estimate,
    Measured,
    Noise,
    RatioGraph,
    calibrate,
)
from asv_watch.statistics.ratio import spread_of_rounds

Node = Hashable

OF_ITSELF = frozenset({"null", "planted"})
"""Kinds of comparisons of a version with itself."""
BETWEEN_SITTINGS: dict[RatioKind, float] = {"time": 0.005, "memory": 0.0135}
"""Default variation of a ratio from one sitting to another, until a machine has shown its own. The
cycles of this project's two CPU machines show 0.46 and 0.56 % for times, 1.4 % for memory."""


class Edge(msgspec.Struct, frozen=True):
    """One stored comparison of a case between two nodes."""

    before: Node
    after: Node
    stored: CaseRatio


class PairRatio(msgspec.Struct, frozen=True):
    """The ratio of a case between two versions, as all ways between them measured it."""

    case: str
    unit: str
    ratio: float
    """After over before: above 1 is slower, or more memory."""
    interval: tuple[float, float]
    """Confidence interval of the ratio (99 %), with the variation between sittings."""
    before: float
    """Value before, in ``unit``: the level of both sides in the rounds of the comparisons,
    divided by the ratio, so that after / before is the ratio."""
    after: float
    higher_is_better: bool = False
    stored: tuple[CaseRatio, ...] = ()
    """The comparisons of exactly these two versions, oldest first, as they were stored."""

    @property
    def kind(self) -> RatioKind:
        """What is compared: a time, or an amount."""
        return ratio_kind(self.unit)

    @property
    def clock(self) -> Clock:
        """Clock of the ratio: CPU time if any of the comparisons used it."""
        return "process" if any(ratio.clock for ratio in self.stored) else ""

    @property
    def is_direct(self) -> bool:
        """Whether the two were compared with each other, and not only through others."""
        return bool(self.stored)

    @property
    def sittings(self) -> int:
        """Number of sittings in which exactly these two versions were compared."""
        return len({ratio.at // SITTING for ratio in self.stored})

    @property
    def rounds(self) -> int:
        """Number of rounds of exactly these two versions."""
        return sum(len(ratio.ratios) for ratio in self.stored)


def _pair_ratio(
    example: CaseRatio, estimate: Estimate, level: float, stored: tuple[CaseRatio, ...]
) -> PairRatio:
    """Return a ratio with values that belong to it.

    Args:
        example: Any comparison of the same case.
        estimate: The ratio.
        level: Mean logarithm of the values of both sides.
        stored: The comparisons of exactly the two versions.
    """
    return PairRatio(
        example.case,
        example.unit,
        estimate.ratio,
        estimate.interval,
        math.exp(level - estimate.log / 2),
        math.exp(level + estimate.log / 2),
        example.higher_is_better,
        stored,
    )


class CaseGraph:
    """The versions that one machine compared in one case."""

    def __init__(self, edges: Sequence[Edge], graph: RatioGraph[Node]) -> None:
        """Gather what is known of a case.

        Args:
            edges: Comparisons, at least one, oldest first.
            graph: Their graph.
        """
        self._edges = edges
        self._graph = graph
        self.compared = Counter(node for edge in edges for node in (edge.before, edge.after))
        """Maps a node to the number of comparisons that it is a side of."""

    @cached_property
    def pairs(self) -> dict[tuple[Node, Node], tuple[CaseRatio, ...]]:
        """Maps each pair that was compared directly to its comparisons, oldest first."""
        pairs: dict[tuple[Node, Node], list[CaseRatio]] = defaultdict(list)
        for edge in self._edges:
            pairs[edge.before, edge.after].append(edge.stored)
        return {pair: tuple(stored) for pair, stored in pairs.items()}

    @cached_property
    def _levels(self) -> dict[Node, float]:
        values: dict[Node, list[float]] = defaultdict(list)
        for edge in self._edges:
            values[edge.before].append(math.log(edge.stored.before))
            values[edge.after].append(math.log(edge.stored.after))
        return {node: fmean(logs) for node, logs in values.items()}

    def part(self, node: Node) -> int:
        """Return the number of the connected part to which a node belongs."""
        return self._graph.part(node)

    def direct(self, before: Node, after: Node) -> tuple[CaseRatio, ...]:
        """Return the comparisons of exactly two nodes, whichever was before."""
        forward = self.pairs.get((before, after), ())
        back = self.pairs.get((after, before), ())
        return tuple(sorted((*forward, *back), key=lambda ratio: ratio.at)) if back else forward

    def ratio(self, before: Node, after: Node) -> PairRatio | None:
        """Return the ratio of two nodes by all ways between them; ``None`` if there is none."""
        estimate = self._graph.estimate(before, after)
        if estimate is None:
            return None
        direct = self.direct(before, after)
        if direct:
            level = fmean(math.log(stored.before * stored.after) / 2 for stored in direct)
        else:
            level = (self._levels[before] + self._levels[after]) / 2
        return _pair_ratio(self._edges[-1].stored, estimate, level, direct)

    def checks(self) -> list[Check[Node]]:
        """Compare each pair of a sitting with all other ways between its two nodes."""
        return self._graph.checks()

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All versions that were compared."""
        return tuple(self.compared)

    @property
    def kind(self) -> RatioKind:
        """What the case measures."""
        return self._edges[-1].stored.kind

    @property
    def closed_ways(self) -> int:
        """Number of independent cycles of the graph."""
        return self._graph.closed_ways


def measured_sides(edges: Iterable[Edge]) -> list[Measured[Node]]:
    """Return the measurements of edges: nothing else reads rounds from stored comparisons."""
    return [
        Measured(edge.before, edge.after, edge.stored.at // SITTING, edge.stored.ratios)
        for edge in edges
        if edge.before != edge.after
    ]


class MachineGraphs:
    """The graphs of all cases of one machine, and how precise it is."""

    def __init__(self, comparisons: Sequence[StoredComparison]) -> None:
        """Gather the comparisons of a machine; graphs are solved when they are asked for.

        Args:
            comparisons: The machine's comparisons, oldest first.
        """
        self._comparisons = comparisons
        self._versions: dict[str, CaseGraph] = {}
        self._releases: dict[str, dict[str, CaseGraph]] = {}
        self._noise: dict[RatioKind, Noise] = {}

    @cached_property
    def _edges(self) -> dict[str, list[Edge]]:
        edges: dict[str, list[Edge]] = defaultdict(list)
        for comparison in self._comparisons:
            header = comparison.header
            sides = header.before.key, header.after.key
            if header.kind not in OF_ITSELF and sides[0] != sides[1]:
                for ratio in comparison.ratios:
                    edges[ratio.case].append(Edge(*sides, ratio))
        return dict(edges)

    @property
    def cases(self) -> tuple[str, ...]:
        """Names of all cases in which two versions were compared."""
        return tuple(self._edges)

    def noise(self, kind: RatioKind) -> Noise:
        """Return how far ratios of times, or of memory, are from the truth on this machine."""
        if kind not in self._noise:
            spreads = [
                spread_of_rounds(ratio.ratios)
                for comparison in self._comparisons
                for ratio in comparison.ratios
                if ratio.kind == kind and not is_import(ratio.case)  # whole processes vary more
            ]
            default = Noise(BETWEEN_SITTINGS[kind], median(spreads) if spreads else 0.0)
            graphs = {
                case: RatioGraph(measured_sides(edges), default)
                for case, edges in self._edges.items()
                if edges[-1].stored.kind == kind
            }
            noise = calibrate(graphs.values(), default)
            for case, graph in graphs.items():
                graph.set_between(noise.between)
                self._versions[case] = CaseGraph(self._edges[case], graph)
            self._noise[kind] = noise
        return self._noise[kind]

    def versions(self, case: str) -> CaseGraph | None:
        """Return the graph of a case with `VersionKey` as nodes; ``None`` without comparisons."""
        if case in self._edges:
            self.noise(self._edges[case][-1].stored.kind)
        return self._versions.get(case)

    def releases(self, requirement: str) -> dict[str, CaseGraph]:
        """Return the graph of each case whose nodes are releases of a requirement (``2.4.0``).

        Its comparisons have one commit of the project on both sides, any commit.
        """
        if requirement not in self._releases:
            edges: dict[str, list[Edge]] = defaultdict(list)
            for comparison in release_comparisons(self._comparisons, requirement):
                header = comparison.header
                sides = (
                    header.before.requirements[requirement],
                    header.after.requirements[requirement],
                )
                for ratio in comparison.ratios:
                    edges[ratio.case].append(Edge(*sides, ratio))
            self._releases[requirement] = {
                case: CaseGraph(
                    case_edges,
                    RatioGraph(measured_sides(case_edges), self.noise(case_edges[-1].stored.kind)),
                )
                for case, case_edges in edges.items()
            }
        return self._releases[requirement]

    def single(self, stored: CaseRatio, least_spread: float = 0.0) -> PairRatio:
        """Return the ratio of one comparison alone, with the interval that the graph would give.

        Args:
            stored: The comparison.
            least_spread: Lower bound of the usual spread, such as that of the other cases of a
                comparison that is not stored.
        """
        [measured] = measured_sides([Edge("before", "after", stored)])
        level = math.log(stored.before * stored.after) / 2
        noise = self.noise(stored.kind)
        noise = noise._replace(usual_spread=max(noise.usual_spread, least_spread))
        return _pair_ratio(stored, measured.alone(noise), level, (stored,))

    def checks(self, kind: RatioKind) -> Iterator[tuple[str, Check[Node]]]:
        """Yield the case's name and each measured pair that other ways connect too."""
        for case in self._edges:
            graph = self.versions(case)
            if graph is not None and graph.kind == kind:
                yield from ((case, check) for check in graph.checks())


def machine_graphs(results: Path, machine: str) -> MachineGraphs:
    """Return the graphs of what a machine has stored; damaged lines are left out."""
    return MachineGraphs(read_comparisons(results, machine)[0])


def release_comparisons(
    comparisons: Iterable[StoredComparison], requirement: str
) -> Iterator[StoredComparison]:
    """Yield the comparisons of two releases of a requirement that differ in nothing else."""
    for comparison in comparisons:
        header = comparison.header
        if (
            header.kind == "release"
            and header.requirement == requirement
            and header.before.commit == header.after.commit
            and comparison.failed_import is None
        ):
            yield comparison
