"""Pairs of commits whose ratio was measured interleaved, and which of them show a change.

Two ways lead to the ratio of two commits: a comparison of exactly these two, or two comparisons
with the same reference, whose quotient is the ratio of two neighbours among the commits that were
compared with it. The half-widths of both intervals, as logarithms, then add in quadrature. A
quotient counts only where no comparisons lead from one commit to the other. Where two commits were
compared more than once, the rounds of all those comparisons count.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import geometric_mean

from msgspec import structs

from asv_watch.records.comparisons import CaseRatio, StoredComparison, Version
from asv_watch.statistics.ratio import estimate_ratio
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
    through_reference: bool = False
    """Whether it is the quotient of two ratios to the reference."""

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
    direct: dict[tuple[str, str], dict[tuple[int, int], list[CaseRatio]]]
    direct = defaultdict(lambda: defaultdict(list))
    with_reference: dict[tuple[str, str, Version], dict[int, list[CaseRatio]]]
    with_reference = defaultdict(lambda: defaultdict(list))
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
                in_order = ratio if before < after else _reversed(ratio)
                direct[key][min(before, after), max(before, after)].append(in_order)
            if header.kind == "reference":
                with_reference[(*key, header.before)][after].append(ratio)
    pairs = {
        key: [_pair(*ends, pooled(ratios)) for ends, ratios in of_case.items()]
        for key, of_case in direct.items()
    }
    for (case, release, reference), of_commit in with_reference.items():
        compared = sorted(direct[case, release])
        own = positions.get(reference.commit)
        for before, after in pairwise(sorted(of_commit)):
            is_between = own is not None and before < own < after
            if not is_between and not _is_chain(compared, before, after):
                ends = pooled(of_commit[before]), pooled(of_commit[after])
                pairs.setdefault((case, release), []).append(_quotient(before, after, *ends))
    return {key: tuple(of_case) for key, of_case in pairs.items()}


def pooled(measured: Sequence[CaseRatio]) -> CaseRatio:
    """Return one ratio from the rounds of several comparisons of the same two versions.

    Some values differ more from one hour to another than within one, such as peak memory. So where
    the intervals of the comparisons have nothing in common, that of their ratio reaches over all
    of them. Its values before and after are the geometric means of theirs.
    """
    newest = measured[-1]
    if len(measured) == 1:
        return newest
    ratios = tuple(ratio for case in measured for ratio in case.ratios)
    ratio, interval = estimate_ratio(ratios)
    lows, highs = zip(*(case.interval for case in measured), strict=True)
    if max(lows) > min(highs):
        interval = min(*lows, interval[0]), max(*highs, interval[1])
    return structs.replace(
        newest,
        ratios=ratios,
        ratio=ratio,
        interval=interval,
        before=geometric_mean(case.before for case in measured),
        after=geometric_mean(case.after for case in measured),
    )


def _is_chain(compared: Sequence[tuple[int, int]], first: int, last: int) -> bool:
    """Tell whether comparisons lead from one position to another, each from where one ended.

    Args:
        compared: positions of the two commits of each comparison, in order.
        first: where the chain begins.
        last: where it ends.
    """
    reached = {first}
    start, end = (bisect_left(compared, (position,)) for position in (first, last))
    for before, after in compared[start:end]:
        if before in reached and after <= last:
            reached.add(after)
    return last in reached


def _reversed(measured: CaseRatio) -> CaseRatio:
    """Return a comparison with the versions in the other order."""
    low, high = measured.interval
    return structs.replace(
        measured,
        ratios=tuple(1 / ratio for ratio in measured.ratios),
        ratio=1 / measured.ratio,
        interval=(1 / high, 1 / low),
        before=measured.after,
        after=measured.before,
    )


def _pair(before: int, after: int, measured: CaseRatio) -> MeasuredPair:
    values = measured.before, measured.after
    return MeasuredPair(before, after, measured.ratio, measured.interval, values)


def _quotient(before: int, after: int, old: CaseRatio, new: CaseRatio) -> MeasuredPair:
    ratio = new.ratio / old.ratio
    down = math.hypot(math.log(new.ratio / new.interval[0]), math.log(old.interval[1] / old.ratio))
    up = math.hypot(math.log(new.interval[1] / new.ratio), math.log(old.ratio / old.interval[0]))
    return MeasuredPair(
        before,
        after,
        ratio,
        (ratio * math.exp(-down), ratio * math.exp(up)),
        (old.after, new.after),
        through_reference=True,
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
    left out, unless it excludes 1 too: then it holds some of the change. Where that leaves commits
    of which another part excludes it, it is no change of one commit, and lies anywhere between its
    own two.
    """
    first, last = change.before, change.after
    parts = [pair for pair in pairs if not pair.differs and pair.excludes(change.ratio)]
    empty = [pair for pair in parts if not pair.excludes(1)]
    for pair in sorted(empty, key=lambda pair: pair.before):
        if pair.before <= first < pair.after < last:
            first = pair.after
    for pair in sorted(empty, key=lambda pair: -pair.after):
        if first < pair.before < last <= pair.after:
            last = pair.before
    within = [pair for pair in parts if change.spans(pair.before, pair.after)]
    if any(pair.spans(first, last) for pair in within):
        return change.before, change.after
    return first, last
