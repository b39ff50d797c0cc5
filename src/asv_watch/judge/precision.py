"""How precise the interleaved comparisons of a machine are.

A comparison shows a change where its interval excludes 1 and the ratio is `MINIMUM_EFFECT` or
more from 1. So the smallest **detectable** one is half the width of the interval, but not less
than that effect. Of a case it is the median of its newest comparisons.

Where a commit was compared with itself (A/A), whatever a ratio differs from 1 by is noise. Per
case, over several comparisons:

- the **noise** is the standard deviation of the logarithm of the ratio, about its true 0;
- the **worst** ratio is the one farthest from 1.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from asv_watch import quantities
from asv_watch.records.comparisons import CaseRatio, Header, StoredComparison
from asv_watch.statistics.noise import noise_together
from asv_watch.statistics.rule import MINIMUM_EFFECT, Verdict, verdict

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


@dataclass(frozen=True, slots=True)
class RepeatedComparison:
    """Ratios of one case from repeated comparisons of a commit with itself."""

    case: str
    rounds: int
    """Number of rounds of the first comparison."""
    noise: float
    """Standard deviation of the logarithm of the ratio (0.01 is 1 %)."""
    worst: float
    """How far the ratio farthest from 1 lies from it, as the slower over the faster."""
    detectable: float
    """The smallest change that they show."""


@dataclass(frozen=True, slots=True)
class RepeatedComparisons:
    """All cases that have a ratio in every comparison, one case at least."""

    newest: Header
    repeats: int
    """How often the commit was compared with itself."""
    cases: tuple[RepeatedComparison, ...]
    """The noisiest first."""
    false_alarms: int
    """How many ratios are called a difference."""

    @property
    def ratios(self) -> int:
        """Number of ratios: of all cases in all comparisons."""
        return self.repeats * len(self.cases)

    @property
    def noise(self) -> float:
        """Noise of all cases together: the root of the mean square."""
        return noise_together([case.noise for case in self.cases])

    @property
    def worst(self) -> float:
        """The worst of all cases."""
        return max(case.worst for case in self.cases)


def newest_repeats(comparisons: Sequence[StoredComparison]) -> RepeatedComparisons | None:
    """Summarise the comparisons of the version of a machine that was compared with itself last.

    Returns:
        ``None`` where none was compared with itself.
    """
    repeated = [stored for stored in comparisons if stored.header.kind == "null"]
    if not repeated:
        return None
    newest = repeated[-1].header
    return summarise_repeats(
        [
            stored
            for stored in repeated
            if stored.header.after == newest.after and stored.header.recipe == newest.recipe
        ]
    )


def summarise_repeats(comparisons: Sequence[StoredComparison]) -> RepeatedComparisons | None:
    """Summarise comparisons of one version with itself, oldest first.

    Returns:
        ``None`` where no case has a ratio in every comparison.
    """
    by_case: dict[str, list[CaseRatio]] = {}
    for comparison in comparisons:
        for case in comparison.times:
            by_case.setdefault(case.case, []).append(case)
    complete = {name: cases for name, cases in by_case.items() if len(cases) == len(comparisons)}
    if not complete:
        return None
    cases = [summarise_case(name, cases) for name, cases in complete.items()]
    return RepeatedComparisons(
        newest=comparisons[-1].header,
        repeats=len(comparisons),
        cases=tuple(sorted(cases, key=lambda case: -case.noise)),
        false_alarms=sum(
            verdict(case) is not Verdict.SAME for cases in complete.values() for case in cases
        ),
    )


def summarise_case(name: str, cases: Sequence[CaseRatio]) -> RepeatedComparison:
    """Summarise the ratios of one case of a commit to itself, one at least."""
    logs = [math.log(case.ratio) for case in cases]
    return RepeatedComparison(
        case=name,
        rounds=len(cases[0].ratios),
        noise=math.sqrt(fmean(log**2 for log in logs)),
        worst=math.expm1(max(map(abs, logs))),
        detectable=smallest_change(cases),
    )
