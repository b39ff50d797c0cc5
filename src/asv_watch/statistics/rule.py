"""The one rule that decides whether two values of a case differ.

The pages and their script, the comparison of releases, the search for new changes and the
calibration all use it, so that nothing is called a difference in one place and none in another.
It takes numbers that the page shows, so that a person can redo it by hand. Two values differ when

1. they are *comparable*: measured by the same recipe, or the recipe of one is unknown;
2. their *noise* is known: the standard deviation of the logarithm of a value between runs;
3. the change is *big enough*: ``|log(after / before)|`` is at least ``log(1.015)``;
4. the change is *beyond the noise*: ``|log(after / before)|`` is more than three times
   ``sqrt(noise_before**2 + noise_after**2)``;
5. their *intervals*, where both are known, do not overlap.

Point 4 is about runs and not about samples, because the samples of one run do not show what the
next run is like: two runs of one commit differ by 1 % on an idle machine and by 8 % on a busy one,
while each run's own samples lie closer together (docs/notes/calibrations.md). A test of the
samples calls one such pair in ten different. Point 5 leaves out runs that were
disturbed themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

MINIMUM_EFFECT = 0.015
"""Smallest relative change that counts: a smaller one is not worth an action."""
NOISE_FACTOR = 3.0
"""Standard deviations of the ratio of two values that a difference exceeds."""


class Verdict(Enum):
    """The answer of the rule."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    """No clear difference: the values agree, the noise hides it, or the noise is unknown."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A value of a case and what is known about how exact it is."""

    value: float
    """In the unit of the benchmark."""
    interval: tuple[float, float] | None = None
    """Low and high end of the spread within its run, in the same unit; ``None`` if unknown."""
    noise: float | None = None
    """Standard deviation of the value's logarithm between runs (0.01 is 1 %), ``None`` if unknown.
    A median of n runs has about ``1.25 * noise_of_a_run / sqrt(n)``."""
    recipe: str = ""
    """How it was sampled; empty if unknown."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the rule says of two measurements."""

    verdict: Verdict
    reason: str
    """The point that decided, as part of a sentence."""
    ratio: float | None
    """After over before; ``None`` where one of them is not positive."""
    noise: float | None
    """Standard deviation of the logarithm of the ratio, ``None`` if unknown."""

    @property
    def differs(self) -> bool:
        """Whether there is a clear difference."""
        return self.verdict in {Verdict.BETTER, Verdict.WORSE}

    @property
    def multiple(self) -> float | None:
        """The change as a multiple of its noise; infinite for a change without any noise."""
        if self.ratio is None or self.noise is None:
            return None
        size = abs(math.log(self.ratio))
        if self.noise == 0:
            return math.inf if size else 0.0
        return size / self.noise


def judge(before: Measurement, after: Measurement, *, higher_is_better: bool = False) -> Judgement:
    """Decide whether two measurements of one case differ.

    Args:
        before: The earlier one, or the baseline.
        after: The other, in the same unit.
        higher_is_better: Whether more is better; by default less is.
    """
    noise = noise_of_ratio(before.noise, after.noise)
    if before.value <= 0 or after.value <= 0:
        return Judgement(
            Verdict.SAME, "a value is not positive, so there is no ratio", None, noise
        )
    ratio = after.value / before.value
    reason = _reason_against(before, after, noise, abs(math.log(ratio)))
    if reason:
        return Judgement(Verdict.SAME, reason, ratio, noise)
    better = (ratio > 1) == higher_is_better
    reason = f"beyond {NOISE_FACTOR:g} times the noise of {noise:.1%}"
    return Judgement(Verdict.BETTER if better else Verdict.WORSE, reason, ratio, noise)


def _reason_against(
    before: Measurement, after: Measurement, noise: float | None, size: float
) -> str:
    """Return the first point of the rule that speaks against a difference, or nothing."""
    if before.recipe != after.recipe and before.recipe and after.recipe:
        return "measured by different recipes"
    if noise is None:
        return "the noise between runs is not known"
    if size < math.log1p(MINIMUM_EFFECT):
        return f"below {MINIMUM_EFFECT:.1%}"
    if size <= NOISE_FACTOR * noise:
        return f"within {NOISE_FACTOR:g} times the noise of {noise:.1%}"
    if before.interval and after.interval and _overlap(before.interval, after.interval):
        return "the intervals overlap"
    return ""


def _overlap(first: tuple[float, float], second: tuple[float, float]) -> bool:
    return first[0] <= second[1] and second[0] <= first[1]


def noise_of_ratio(before: float | None, after: float | None) -> float | None:
    """Return the standard deviation of the logarithm of a ratio from those of its two values."""
    return None if before is None or after is None else math.hypot(before, after)


def smallest_difference(noise_of_ratio: float) -> float:
    """Smallest relative change that the rule calls a difference, as a share."""
    return math.expm1(max(math.log1p(MINIMUM_EFFECT), NOISE_FACTOR * noise_of_ratio))
