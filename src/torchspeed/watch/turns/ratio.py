"""By how much one side is slower than another, from samples that they took in turn.

Two processes, one a side, take turns at samples of some 20 ms: A B B A, A B B A ... Whatever
the machine does meanwhile, for seconds or for minutes, meets both alike, and the ratio of
neighbours does not know of it. What remains is that every process lies elsewhere in memory;
so a comparison holds several **rounds**, a new process a side each.

- A round's ratio is the median, over its turns A B B A, of the ratio of the two sums.
- The comparison's ratio is the geometric mean of the rounds' ratios. Its interval is Student's
  for the mean of their logarithms, at 99 %. A few rounds cannot show that a case is quieter
  than others, so the spread of its rounds counts as no less than that of the middle case
  (as in `torchspeed.watch.analysis.noise.calibrated_noise`).
- It is a difference where the interval leaves 1 out and the ratio is `MINIMUM_EFFECT` from 1.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import stdtrit

from torchspeed.watch.analysis.rule import MINIMUM_EFFECT, Verdict

CONFIDENCE = 0.99
FEWEST_ROUNDS = 2
"""That tell a spread at all."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """After over before: above 1 is slower."""

    value: float
    interval: tuple[float, float]
    rounds: int
    spread: float
    """Standard deviation of the logarithm of a round's ratio, as the interval took it."""

    @property
    def verdict(self) -> Verdict:
        """Whether that is a difference, for a figure of which less is better."""
        low, high = self.interval
        if abs(math.log(self.value)) < math.log1p(MINIMUM_EFFECT) or low <= 1 <= high:
            return Verdict.SAME
        return Verdict.WORSE if self.value > 1 else Verdict.BETTER


def ratio_of_round(before: Sequence[float], after: Sequence[float]) -> float:
    """Ratio of two sides within one round.

    Args:
        before: Samples of one side, seconds a call, in the order they were taken.
        after: Those of the other, as many: two of each belong to one turn, A B B A.

    Raises:
        ValueError: They are not pairs of samples, or not all positive.
    """
    if len(before) != len(after) or not before or len(before) % 2:
        raise ValueError(
            f"{len(before)} and {len(after)} samples are no turns: give two of each for each"
        )
    if not all(0 < sample < math.inf for sample in (*before, *after)):
        raise ValueError("samples must be finite and above zero: a clock that stood still is none")
    pairs = zip(before[::2], before[1::2], after[::2], after[1::2], strict=True)
    return statistics.median((c + d) / (a + b) for a, b, c, d in pairs)


def spread_of_rounds(ratios: Sequence[float]) -> float:
    """Standard deviation of the logarithm of rounds' ratios."""
    return statistics.stdev(map(math.log, ratios))


def ratio_of_rounds(ratios: Sequence[float], least_spread: float = 0.0) -> Ratio:
    """Ratio of two sides, from each round's.

    Args:
        ratios: One a round, two at least.
        least_spread: What the rounds' spread counts as at least, such as other cases'.

    Raises:
        ValueError: There are fewer than two.
    """
    if len(ratios) < FEWEST_ROUNDS:
        raise ValueError(f"{len(ratios)} rounds tell no spread: give {FEWEST_ROUNDS} at least")
    middle = statistics.fmean(map(math.log, ratios))
    spread = max(spread_of_rounds(ratios), least_spread)
    reach = half_width(spread, len(ratios))
    return Ratio(
        value=math.exp(middle),
        interval=(math.exp(middle - reach), math.exp(middle + reach)),
        rounds=len(ratios),
        spread=spread,
    )


def half_width(spread: float, rounds: int) -> float:
    """Half of the interval, as a logarithm: Student's quantile times the mean's standard error."""
    quantile = float(stdtrit(rounds - 1, (1 + CONFIDENCE) / 2))
    return quantile * spread / math.sqrt(rounds)


def compare_sides(rounds_by_case: Sequence[Sequence[float]]) -> tuple[Ratio, ...]:
    """Compare two sides in several cases that were measured together.

    Args:
        rounds_by_case: For each case its rounds' ratios, two at least.

    Returns:
        A ratio for each, none of them surer of itself than the middle case's spread allows.
    """
    if not rounds_by_case:
        return ()
    middle = statistics.median(map(spread_of_rounds, rounds_by_case))
    return tuple(ratio_of_rounds(ratios, middle) for ratios in rounds_by_case)
