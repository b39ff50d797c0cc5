"""How precise the interleaved comparisons of a machine are.

A comparison shows a change if its interval excludes 1 and the ratio is at least `MINIMUM_EFFECT`
away from 1. So the smallest **detectable** change is half the width of the interval, but at least
that effect. For a case it is the median over its newest comparisons, each of one sitting. If a
version was compared with itself (A/A), every difference from 1 is noise.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean, median

import msgspec

from asv_watch.judge.graph import MachineGraphs, PairRatio
from asv_watch.records.comparisons import CaseRatio, StoredComparison
from asv_watch.statistics.rule import MINIMUM_EFFECT, Verdict, verdict
from asv_watch.text import quantities

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


def detectable_changes(
    comparisons: Mapping[str, Sequence[StoredComparison]], graphs: Mapping[str, MachineGraphs]
) -> dict[str, Detectable]:
    """Work out the smallest changes of each machine that compared any case."""
    return {
        machine: detectable_change(ratios, graphs[machine])
        for machine, machine_comparisons in comparisons.items()
        if (ratios := [ratio for comparison in machine_comparisons for ratio in comparison.times])
    }


def detectable_change(ratios: Sequence[CaseRatio], graphs: MachineGraphs) -> Detectable:
    """Return the smallest changes that a machine's ratios show: at least one, the newest last."""
    ratios_by_case: dict[str, list[CaseRatio]] = defaultdict(list)
    for ratio in ratios:
        ratios_by_case[ratio.case].append(ratio)
    return Detectable(
        {
            case: smallest_change([graphs.single(ratio) for ratio in cases[-NEWEST:]])
            for case, cases in ratios_by_case.items()
        }
    )


def smallest_change(ratios: Sequence[PairRatio]) -> float:
    """Return the smallest change that comparisons of a case show (0.015 is 1.5 %)."""
    return median(
        max(MINIMUM_EFFECT, math.sqrt(high / low) - 1)
        for low, high in (ratio.interval for ratio in ratios)
    )


def noise_in_words(ratios: Sequence[PairRatio]) -> str:
    """Say how far the ratios of a version to itself are from 1.

    The standard deviation is of their logarithms, about the true 0.
    """
    sizes = [abs(math.log(ratio.ratio)) for ratio in ratios]
    false_alarms = sum(verdict(ratio) is not Verdict.SAME for ratio in ratios)
    return (
        f"{quantities.share(math.sqrt(fmean(size**2 for size in sizes)))} (standard deviation), "
        f"{quantities.share(math.expm1(max(sizes)))} at worst. "
        f"{false_alarms or 'None'} of them counted as a change"
    )


def newest_repeats(comparisons: Sequence[StoredComparison]) -> list[StoredComparison]:
    """Return the comparisons of the version that was last compared with itself, by one recipe."""
    repeated = [stored for stored in comparisons if stored.header.kind == "null"]
    return [
        stored
        for stored in repeated
        if stored.header.after == repeated[-1].header.after
        and stored.header.recipe == repeated[-1].header.recipe
    ]
