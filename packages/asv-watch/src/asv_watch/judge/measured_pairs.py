"""Pairs of commits whose ratio the graph of a case knows, and which of them show a change.

A pair is two commits that were compared with each other, or two neighbours among all compared
commits: other comparisons then lead from one to the other, such as those with a reference. Its
ratio comes from the graph (`asv_watch.judge.graph`), from all comparisons of the case.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import chain, combinations, pairwise

from asv_watch.comparison import Ratio
from asv_watch.judge.graph import CaseGraph
from asv_watch.versions.releases import Release
from asv_watch.versions.version import VersionKey

MOST_COMMITS = 60
"""With at most this many compared commits in a case, the ratio of any two is published."""


Pairs = dict[tuple[int, int], Ratio]
"""Maps the positions of an earlier and a later commit to the ratio between them."""


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

    def ratio(self, before: int, after: int) -> Ratio | None:
        """Return the ratio of two compared commits, by position, if comparisons join them."""
        return self._graph.ratio(self.nodes[before], self.nodes[after])

    @cached_property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the commits of each connected part, in order."""
        positions_by_part: dict[int, list[int]] = defaultdict(list)
        for position, node in self.nodes.items():
            positions_by_part[self._graph.part(node)].append(position)
        return tuple(map(tuple, positions_by_part.values()))

    def all_pairs(self) -> Pairs:
        """Return every two commits that comparisons join; if these are too many, only `pairs`."""
        if len(self.nodes) > MOST_COMMITS:
            return self.pairs
        return self._ratios(chain.from_iterable(combinations(part, 2) for part in self.parts))

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs that were compared, and neighbours that other comparisons join."""
        position_of = {node: position for position, node in self.nodes.items()}
        ends = {each for positions in self.parts for each in pairwise(positions)}
        for before, after in self._graph.pairs:
            if before in position_of and after in position_of:
                low, high = sorted((position_of[before], position_of[after]))
                ends.add((low, high))
        return self._ratios(sorted(ends))

    @cached_property
    def changed(self) -> Pairs:
        """The pairs that show a change, none overlapping another, in the order of the branch.

        If pairs overlap, the one with fewer commits counts, because it locates the change better.
        """
        changed: Pairs = {}
        for ends in sorted(self.pairs, key=lambda ends: (ends[1] - ends[0], ends[0])):
            if self.pairs[ends].differs and not overlaps(ends, changed):
                changed[ends] = self.pairs[ends]
        return dict(sorted(changed.items()))

    def _ratios(self, ends: Iterable[tuple[int, int]]) -> Pairs:
        return {each: ratio for each in ends if (ratio := self.ratio(*each)) is not None}


def overlaps(ends: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    """Tell whether a range shares a commit with any other; a range's first one does not count."""
    return any(ends[0] < after and before < ends[1] for before, after in others)
