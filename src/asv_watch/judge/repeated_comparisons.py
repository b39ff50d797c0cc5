"""Noise between comparisons of a commit with itself.

The same commit on both sides (A/A): whatever their ratio differs from 1 by is noise. Per case,
over several comparisons:

- the **noise** is the standard deviation of the logarithm of the ratio, about its true 0;
- the **worst** ratio is the one farthest from 1.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from asv_watch.judge.detectable import smallest_change
from asv_watch.records.comparisons import CaseRatio, Header, StoredComparison
from asv_watch.statistics.noise import noise_together
from asv_watch.statistics.rule import Verdict, verdict


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
    """The smallest change that they show (`asv_watch.judge.detectable`)."""


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
        noise=math.sqrt(statistics.fmean(log**2 for log in logs)),
        worst=math.expm1(max(map(abs, logs))),
        detectable=smallest_change(cases),
    )
