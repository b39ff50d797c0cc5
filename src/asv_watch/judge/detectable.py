"""The smallest change of a time that an interleaved comparison of a machine can show.

A comparison shows a change where its interval excludes 1 and the ratio is `MINIMUM_EFFECT` or
more from 1. So the smallest one is half the width of the interval, but not less than that effect.
Of a case it is the median of its newest comparisons.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from asv_watch import quantities
from asv_watch.records.comparisons import CaseRatio, StoredComparison
from asv_watch.statistics.rule import MINIMUM_EFFECT

NEWEST = 5
"""Number of comparisons of a case that count, the newest ones."""


@dataclass(frozen=True, slots=True)
class Detectable:
    """The smallest relative changes that comparisons on one machine can show."""

    of_case: Mapping[str, float]
    """Name of a case to its smallest change (0.015 is 1.5 %); one case at least."""

    @property
    def middle(self) -> float:
        """Median of the cases."""
        return median(self.of_case.values())

    @property
    def ninth_decile(self) -> float:
        """What nine of ten cases are below."""
        return sorted(self.of_case.values())[(len(self.of_case) - 1) * 9 // 10]

    def __str__(self) -> str:
        cases = quantities.counted(len(self.of_case), "case")
        middle, high = map(quantities.share, (self.middle, self.ninth_decile))
        return f"median {middle}, 90th percentile {high} of {cases}"


def detectable_changes(
    comparisons: Mapping[str, Sequence[StoredComparison]],
) -> dict[str, Detectable]:
    """Work out the smallest changes of each machine that compared any case."""
    changes = {}
    for machine, of_machine in comparisons.items():
        ratios: dict[str, list[CaseRatio]] = defaultdict(list)
        for comparison in of_machine:
            for ratio in comparison.times:
                ratios[ratio.case].append(ratio)
        if ratios:
            changes[machine] = Detectable(
                {case: smallest_change(of_case) for case, of_case in ratios.items()}
            )
    return changes


def smallest_change(ratios: Sequence[CaseRatio]) -> float:
    """Return the smallest change that comparisons of a case show, the newest last."""
    return median(
        max(MINIMUM_EFFECT, math.sqrt(high / low) - 1)
        for low, high in (ratio.interval for ratio in ratios[-NEWEST:])
    )
