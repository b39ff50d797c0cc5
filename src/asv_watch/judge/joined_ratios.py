"""Ratios of many commits to one, joined from comparisons of two commits each.

The comparisons of a case are the lines of a graph whose points are commits. A tree of the most
precise lines leads from one commit, the root, to all others: the ratio of a commit is the product
of the ratios along its way. Comparisons that show a change always belong to the tree, so that the
ratios on both sides of a change differ by its size.

Another machine's comparisons go on where those of the machine end, from any commit that both
compared, such as the reference.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from asv_watch.judge.measured_pairs import MeasuredPair, changed_pairs


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
    """The half-widths of all comparisons on the way, as logarithms, add in quadrature."""
    machine: str = ""
    """Another machine, where that alone compared the commit."""


def joined_ratios(
    pairs: Sequence[MeasuredPair], elsewhere: Mapping[str, Sequence[MeasuredPair]] = {}
) -> tuple[JoinedRatio, ...]:
    """Join the measured pairs of a case, in the order of the branch.

    The root of a part is the commit that was compared most often, such as the reference; the
    earliest of several.

    Args:
        pairs: those of one machine.
        elsewhere: other machines to their pairs of the same case and release.
    """
    lines = _tree(pairs, elsewhere)
    machines = {
        end: machine
        for machine, of_machine in elsewhere.items()
        for pair in of_machine
        for end in (pair.before, pair.after)
    }
    compared = Counter(end for pair in pairs for end in (pair.before, pair.after))
    parts: list[dict[int, tuple[float, float, float]]] = []
    for root in sorted(compared, key=lambda position: (-compared[position], position)):
        if not any(root in part for part in parts):
            parts.append(_walk(root, lines))
    parts.sort(key=len, reverse=True)
    return tuple(
        JoinedRatio(
            position,
            number,
            math.exp(size),
            (math.exp(size - down), math.exp(size + up)),
            "" if position in compared else machines[position],
        )
        for number, part in enumerate(parts)
        for position, (size, down, up) in sorted(part.items())
    )


def _tree(
    pairs: Sequence[MeasuredPair], elsewhere: Mapping[str, Sequence[MeasuredPair]]
) -> dict[int, list[tuple[int, MeasuredPair]]]:
    """Choose the lines that connect all commits once: changes first, then the most precise."""
    part_of: dict[int, int] = {}
    lines: dict[int, list[tuple[int, MeasuredPair]]] = defaultdict(list)
    for pair in itertools.chain(*map(_best_first, (pairs, *elsewhere.values()))):
        ends = [part_of.setdefault(end, end) for end in (pair.before, pair.after)]
        if ends[0] == ends[1]:
            continue
        for position, part in part_of.items():
            if part == ends[1]:
                part_of[position] = ends[0]
        lines[pair.before].append((pair.after, pair))
        lines[pair.after].append((pair.before, pair))
    return lines


def _best_first(pairs: Sequence[MeasuredPair]) -> list[MeasuredPair]:
    changed = set(changed_pairs(pairs))
    return sorted(
        pairs, key=lambda pair: (pair not in changed, pair.interval[1] / pair.interval[0])
    )


def _walk(
    root: int, lines: dict[int, list[tuple[int, MeasuredPair]]]
) -> dict[int, tuple[float, float, float]]:
    """Return the logarithm of the ratio and both half-widths of all commits of a part."""
    reached = {root: (0.0, 0.0, 0.0)}
    waiting = [root]
    while waiting:
        here = waiting.pop()
        size, down, up = reached[here]
        for there, pair in lines[here]:
            if there in reached:
                continue
            low, middle, high = (
                math.log(x) for x in (pair.interval[0], pair.ratio, pair.interval[1])
            )
            below, above = middle - low, high - middle
            if there == pair.before:
                middle, below, above = -middle, above, below
            reached[there] = (size + middle, math.hypot(down, below), math.hypot(up, above))
            waiting.append(there)
    return reached
