"""Ratios of all compared commits to one of them, as the graph of a case joins them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from asv_watch.judge.measured_pairs import MeasuredCommits


@dataclass(frozen=True, slots=True)
class JoinedRatio:
    """The ratio of a commit to the root of its part."""

    position: int
    """Position of the commit along the branch."""
    part: int
    """No comparison leads from one part to another; the largest part is 0."""
    ratio: float
    """1 at the root."""
    interval: tuple[float, float]
    """Confidence interval (99 %); of the root it has no width."""


def joined_ratios(commits: MeasuredCommits) -> tuple[JoinedRatio, ...]:
    """Return the ratios of all compared commits of a case, by part and along the branch.

    The root of a part is the commit that was compared most often, such as the reference; the
    earliest of several.
    """
    graph, nodes = commits.graph, commits.nodes
    parts: dict[int, list[int]] = defaultdict(list)
    for position, node in nodes.items():
        parts[graph.part(node)].append(position)
    joined = []
    for number, positions in enumerate(sorted(parts.values(), key=len, reverse=True)):
        root = max(positions, key=lambda position: graph.compared[nodes[position]])
        for position in positions:
            ratio = graph.ratio(nodes[root], nodes[position])
            if ratio is not None:
                joined.append(JoinedRatio(position, number, ratio.ratio, ratio.interval))
    return tuple(joined)
