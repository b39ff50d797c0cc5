"""How precise the interleaved comparisons of a machine are.

A comparison shows a change if its interval excludes 1 and the ratio is at least `MINIMUM_EFFECT`
away from 1. So the smallest **detectable** change is half the width of the interval, but at least
that effect. For a case it is the median over its newest comparisons, each of one sitting. If a
version was compared with itself (A/A), every difference from 1 is noise.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean, median

import msgspec
import numpy as np

from asv_watch.comparison import Comparison, Ratio
from asv_watch.judge.graph import MachineGraphs
from asv_watch.statistics.rule import MINIMUM_EFFECT
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


def smallest_changes(comparisons: Sequence[Comparison], graphs: MachineGraphs) -> Detectable:
    """Return the smallest changes that a machine's newest comparisons of times show."""
    by_case: dict[str, list[Comparison]] = defaultdict(list)
    for comparison in comparisons:
        if comparison.metric == "time" and len(comparison.measured_sides) > 1:
            by_case[comparison.case].append(comparison)
    intervals = {
        case: [
            ratio.interval
            for each in measured[-NEWEST:]
            if (ratio := graphs.alone(each, *each.measured_sides[:2])) is not None
        ]
        for case, measured in by_case.items()
    }
    return Detectable(
        {
            case: median(max(MINIMUM_EFFECT, math.sqrt(high / low) - 1) for low, high in known)
            for case, known in intervals.items()
            if known
        }
    )


def noise_in_words(ratios: Sequence[Ratio]) -> str:
    """Say how far the ratios of a version to itself are from 1.

    The standard deviation is of their logarithms, about the true 0.
    """
    sizes = [abs(math.log(ratio.ratio)) for ratio in ratios]
    false_alarms = sum(ratio.differs for ratio in ratios)
    return (
        f"{quantities.share(math.sqrt(fmean(size**2 for size in sizes)))} (standard deviation), "
        f"{quantities.share(math.expm1(max(sizes)))} at worst. "
        f"{false_alarms or 'None'} of them counted as a change"
    )


def ratios_to_first(comparisons: Sequence[Comparison], graphs: MachineGraphs) -> list[Ratio]:
    """Return the ratio of each further side of comparisons to the first."""
    pairs = ((each, side) for each in comparisons for side in each.measured_sides[1:])
    ratios = (graphs.alone(each, 0, side) for each, side in pairs)
    return [ratio for ratio in ratios if ratio is not None]


def place_in_words(comparisons: Sequence[Comparison], graphs: MachineGraphs, sides: int) -> str:
    """Say which place among sides that are the same differs most from the others.

    The standard error is that of the rounds alone: sides of one sitting share all else.
    """
    usual = graphs.usual_spread["time"]
    stars = [star for each in comparisons if (star := each.star(usual))]
    stars = [star for star in stars if len(star.nodes) == sides]
    if not stars:
        return "No comparison has two rounds of all sides."
    weights = np.full((sides, sides), -1 / (sides - 1))
    np.fill_diagonal(weights, 1.0)
    differences = weights @ np.mean([star.levels for star in stars], axis=0)
    variances = np.mean([star.variances for star in stars], axis=0)
    in_errors = differences / np.sqrt(weights**2 @ variances / len(stars))
    place = int(np.argmax(np.abs(in_errors)))
    return (
        f"Place {place + 1} of {sides} differs most from the mean of the others: "
        f"{quantities.share(abs(differences[place]))} "
        f"{'slower' if differences[place] > 0 else 'faster'}, "
        f"{abs(in_errors[place]):.1f} standard errors."
    )


def newest_repeats(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the newest A/A comparisons with one recipe."""
    repeated = [each for each in comparisons if each.sitting.kind == "null"]
    return [
        each
        for each in repeated
        if each.sitting.versions == repeated[-1].sitting.versions
        and each.sitting.recipe == repeated[-1].sitting.recipe
    ]
