"""Pairs of commits whose ratio the graph of a case knows, and which of them show a change.

A pair is two commits that were compared with each other, or two neighbours among all compared
commits: other comparisons then lead from one to the other, such as those with a reference. Its
ratio comes from the graph (`asv_watch.judge.graph`), from all comparisons of the case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, combinations, pairwise

import msgspec

from asv_watch.comparison import Ratio
from asv_watch.judge.graph import CaseGraph
from asv_watch.versions.releases import Release
from asv_watch.versions.version import VersionKey

MOST_COMMITS = 60
"""With at most this many compared commits in a case, the ratio of any two is published."""


class MeasuredPair(msgspec.Struct, frozen=True):
    """Two commits of the branch and the measured ratio of a case between them."""

    before: int
    """Position along the branch of the earlier commit."""
    after: int
    measured: Ratio
    """Later over earlier."""

    def overlaps(self, other: MeasuredPair) -> bool:
        """Tell whether both ranges share a commit; the first commit of a range does not count."""
        return self.before < other.after and other.before < self.after


class MeasuredCommits:
    """The compared commits of a branch in one case, with one release and Python."""

    def __init__(
        self, graph: CaseGraph, positions: Mapping[str, int], release: Release, python: str
    ) -> None:
        """Find the compared commits.

        Args:
            graph: The case's graph, whose nodes are `VersionKey`.
            positions: Maps a commit hash to the number of commits before it along the branch.
            release: Main release of the commits.
            python: Such as ``3.11``.
        """
        self._graph = graph
        on_branch = (
            (positions[node.commit], node)
            for node in graph.nodes
            if isinstance(node, VersionKey)
            and (node.release, node.python) == (release, python)
            and node.commit in positions
        )
        self.nodes = dict(sorted(on_branch))
        """Maps a position along the branch, in increasing order, to the node of its commit."""

    def pair(self, before: int, after: int) -> MeasuredPair | None:
        """Return the pair of two compared commits, by position, if comparisons join them."""
        ratio = self._graph.ratio(self.nodes[before], self.nodes[after])
        return None if ratio is None else MeasuredPair(before, after, ratio)

    @cached_property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the commits of each connected part, in order."""
        positions_by_part: dict[int, list[int]] = defaultdict(list)
        for position, node in self.nodes.items():
            positions_by_part[self._graph.part(node)].append(position)
        return tuple(map(tuple, positions_by_part.values()))

    def all_pairs(self) -> Sequence[MeasuredPair]:
        """Return every two commits that comparisons join; if these are too many, only `pairs`."""
        if len(self.nodes) > MOST_COMMITS:
            return self.pairs
        ends = chain.from_iterable(combinations(positions, 2) for positions in self.parts)
        return [pair for each in ends if (pair := self.pair(*each))]

    @cached_property
    def pairs(self) -> Sequence[MeasuredPair]:
        """The pairs that were compared, and neighbours that other comparisons join."""
        position_of = {node: position for position, node in self.nodes.items()}
        ends = {each for positions in self.parts for each in pairwise(positions)}
        for before, after in self._graph.pairs:
            if before in position_of and after in position_of:
                low, high = sorted((position_of[before], position_of[after]))
                ends.add((low, high))
        return [pair for each in sorted(ends) if (pair := self.pair(*each))]


def changed_pairs(pairs: Iterable[MeasuredPair]) -> list[MeasuredPair]:
    """Return the pairs that show a change, none overlapping another, in the order of the branch.

    If pairs overlap, the one with fewer commits counts, because it locates the change better.
    """
    changed: list[MeasuredPair] = []
    for pair in sorted(pairs, key=lambda pair: (pair.after - pair.before, pair.before)):
        if pair.measured.differs and not any(map(pair.overlaps, changed)):
            changed.append(pair)
    return sorted(changed, key=lambda pair: pair.before)
