"""Pairs of commits whose ratio was measured interleaved, and which of them show a change.

Two ways lead to the ratio of two commits: a comparison of exactly these two, or two comparisons
with the same reference, whose quotient is the ratio of two neighbours among the commits that were
compared with it. The half-widths of both intervals, as logarithms, then add in quadrature. A
direct comparison counts before a quotient, and a newer one before an older one.

The measured pairs of a case are the lines of a graph whose points are commits. A tree of the most
precise lines leads from one commit, the root, to all others: the *joined ratio* of a commit is the
product of the ratios along its way. Pairs that show a change always belong to the tree, so that
the joined ratios on both sides of a change differ by its size. Another machine's pairs go on where
those of the machine end, from any commit that both compared, such as the reference.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from asv_watch.records.comparisons import CaseRatio, StoredComparison, Version
from asv_watch.statistics.rule import Verdict, verdict

_OF_ITSELF = {"null", "planted"}


@dataclass(frozen=True, slots=True)
class MeasuredPair:
    """Two commits of the branch and the measured ratio of a case between them."""

    before: int
    """Position along the branch of the earlier commit."""
    after: int
    ratio: float
    """Later over earlier: above 1 is slower, or more memory."""
    interval: tuple[float, float]
    """Confidence interval of the ratio (99 %)."""
    values: tuple[float, float]
    """Of the earlier and of the later commit, in the same comparison; of a quotient each in its
    own."""
    comparisons: int = 1
    """How often exactly these two were compared; 0 for the quotient of two ratios to the
    reference."""

    @property
    def through_reference(self) -> bool:
        """Whether it is the quotient of two ratios to the reference."""
        return self.comparisons == 0

    @property
    def differs(self) -> bool:
        """Whether it shows a change."""
        return verdict(self) is not Verdict.SAME

    def excludes(self, ratio: float) -> bool:
        """Tell whether its interval leaves out a ratio."""
        low, high = self.interval
        return not low <= ratio <= high

    def spans(self, before: int, after: int) -> bool:
        """Tell whether it reaches from one position to another, or further."""
        return self.before <= before and after <= self.after

    def overlaps(self, other: MeasuredPair) -> bool:
        """Tell whether a commit after the first of each and up to the last belongs to both."""
        return self.before < other.after and other.before < self.after


def measured_pairs(
    comparisons: Sequence[StoredComparison], positions: Mapping[str, int]
) -> dict[tuple[str, str], tuple[MeasuredPair, ...]]:
    """Collect the measured pairs of one machine.

    Returns:
        Name of the case and release to its pairs: one for two commits.
    """
    direct: dict[tuple[str, str], dict[tuple[int, int], MeasuredPair]] = defaultdict(dict)
    with_reference: dict[tuple[str, str, Version], dict[int, CaseRatio]] = defaultdict(dict)
    for comparison in comparisons:
        header = comparison.header
        before, after = (
            positions.get(version.commit) for version in (header.before, header.after)
        )
        if header.kind in _OF_ITSELF or after is None or before == after:
            continue
        same_release = header.before.release == header.after.release
        for ratio in comparison.ratios:
            key = ratio.case, header.after.release
            if same_release and before is not None:
                pair = _pair(before, after, ratio)
                ends = pair.before, pair.after
                earlier = direct[key].get(ends)
                count = 1 if earlier is None else earlier.comparisons + 1
                direct[key][ends] = replace(pair, comparisons=count)
            if header.kind == "reference":
                with_reference[(*key, header.before)][after] = ratio
    for (case, release, reference), ratios in with_reference.items():
        pairs, own = direct[case, release], positions.get(reference.commit)
        for before, after in itertools.pairwise(sorted(ratios)):
            is_between = own is not None and before < own < after
            if not is_between and (before, after) not in pairs:
                pairs[before, after] = _quotient(before, after, ratios)
    return {key: tuple(pairs.values()) for key, pairs in direct.items()}


def _pair(before: int, after: int, measured: CaseRatio) -> MeasuredPair:
    """Return a comparison of two commits with the earlier one first."""
    low, high = measured.interval
    old, new = measured.before, measured.after
    if before < after:
        return MeasuredPair(before, after, measured.ratio, (low, high), (old, new))
    return MeasuredPair(after, before, 1 / measured.ratio, (1 / high, 1 / low), (new, old))


def _quotient(before: int, after: int, ratios: Mapping[int, CaseRatio]) -> MeasuredPair:
    old, new = ratios[before], ratios[after]
    ratio = new.ratio / old.ratio
    down = math.hypot(math.log(new.ratio / new.interval[0]), math.log(old.interval[1] / old.ratio))
    up = math.hypot(math.log(new.interval[1] / new.ratio), math.log(old.ratio / old.interval[0]))
    return MeasuredPair(
        before,
        after,
        ratio,
        (ratio * math.exp(-down), ratio * math.exp(up)),
        (old.after, new.after),
        comparisons=0,
    )


def changed_pairs(pairs: Iterable[MeasuredPair]) -> list[MeasuredPair]:
    """Return the pairs that show a change, none overlapping another, in the order of the branch.

    Of pairs that overlap the one with fewer commits counts, because it says more closely where the
    change is; of two with as many, the direct one.
    """
    changed: list[MeasuredPair] = []
    for pair in sorted(
        pairs, key=lambda pair: (pair.after - pair.before, pair.through_reference, pair.before)
    ):
        if pair.differs and not any(map(pair.overlaps, changed)):
            changed.append(pair)
    return sorted(changed, key=lambda pair: pair.before)


def narrowed(change: MeasuredPair, pairs: Sequence[MeasuredPair]) -> tuple[int, int]:
    """Return the positions between which a change lies, from what its parts exclude.

    A part of its commits, at either end, that was compared and excludes the size of the change is
    left out.
    """
    first, last = change.before, change.after
    parts = [pair for pair in pairs if not pair.differs and pair.excludes(change.ratio)]
    for pair in sorted(parts, key=lambda pair: pair.before):
        if pair.before <= first < pair.after < last:
            first = pair.after
    for pair in sorted(parts, key=lambda pair: -pair.after):
        if first < pair.before < last <= pair.after:
            last = pair.before
    return first, last


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
