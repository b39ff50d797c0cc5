"""Suspicions: changes that separate runs hint at, and that no comparison has measured yet.

A change point of a series is a suspicion if it is confirmed, or recent and clear enough
(`asv_watch.runs.change_points`). Newest runs that each differ from the level before them,
but are too few for a change point, are a suspicion too. Its size is only a guess: two runs of one
commit differ by several per cent on a busy machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

import msgspec

from asv_watch.runs.change_points import Step, values_to_confirm
from asv_watch.runs.noise import caution
from asv_watch.runs.pruning import FEWEST_VALUES
from asv_watch.runs.segments import Segment
from asv_watch.statistics.rule import MINIMUM_EFFECT

MOST_NEW_RUNS = values_to_confirm() - FEWEST_VALUES
"""A change point among this many of the newest runs need not be confirmed."""
RECENT_Z = 4.5
"""A recent change point is a suspicion if its levels differ by this many standard errors, times
the caution for few values (`noise.caution`)."""
MEDIAN_VARIANCE = math.pi / 2
"""Variance of the median of normal values over that of their mean."""
NOISE_FACTOR = 3.0
"""A difference of two values must exceed this many standard deviations of their ratio."""
LEVEL_VALUES = 10
"""The level before the newest values is the median of at most this many values."""


class Suspicion(msgspec.Struct, frozen=True):
    """A change of the level of a series, as its runs show it."""

    previous: int
    """Index of the last commit measured before it, among the commits of the history."""
    commit: int
    """Index of the first commit measured after it."""
    levels: tuple[float, float]
    """Before and after, in the unit of the series."""


def find_suspicions(
    segments: Sequence[Segment], steps: Sequence[Sequence[Step]], noise: float | None
) -> list[Suspicion]:
    """List the suspicions of a series, oldest first.

    Args:
        segments: The series' segments, oldest first.
        steps: The change points of each segment, confirmed or not.
        noise: Noise of the series between runs, if known.
    """
    suspicions = []
    later = sum(len(segment.values) for segment in segments)
    for segment, segment_steps in zip(segments, steps, strict=True):
        later -= len(segment.values)
        commits: list[int] = segment.commits.tolist()
        suspicions += [
            Suspicion(
                commits[step.position - 1], commits[step.position], (step.before, step.after)
            )
            for step in _suspected(
                segment.values.tolist(), segment_steps, noise, MOST_NEW_RUNS - later
            )
            if step.before > 0 and step.after > 0
        ]
    return suspicions


def _suspected(
    values: Sequence[float], steps: Sequence[Step], noise: float | None, most_new: int
) -> list[Step]:
    """Return the steps that are confirmed or recent, and the jump of the newest values."""
    least_z = RECENT_Z * caution(max(1, len(values) - 1))
    suspected = [
        step
        for step in steps
        if step.confirmed or (step.values_after <= most_new and step.z >= least_z)
    ]
    start = suspected[-1].position if suspected else 0
    if noise is not None:
        jump = newest_jump(values[start:], noise, most_new)
        if jump is not None:
            suspected.append(msgspec.structs.replace(jump, position=start + jump.position))
    return suspected


def smallest_jump(noise: float) -> float:
    """Return the smallest relative change that a newest run can show (0.1 is 10 %)."""
    spread = noise * math.sqrt(1 + MEDIAN_VARIANCE / LEVEL_VALUES)
    return max(MINIMUM_EFFECT, math.expm1(NOISE_FACTOR * spread))


def newest_jump(values: Sequence[float], noise: float, most: int) -> Step | None:
    """Find the newest values that each differ from the level before them, in one direction.

    Args:
        values: Positive values since the last change, under the same conditions.
        noise: Standard deviation of the logarithm of each.
        most: Largest number of newest values to look at.

    Returns:
        The jump as an unconfirmed step, or ``None``.
    """
    for runs in range(min(most, len(values) - 1), 0, -1):
        cut = len(values) - runs
        earlier = values[max(0, cut - LEVEL_VALUES) : cut]
        level = median(earlier)
        newest = values[cut:]
        if level <= 0 or min(newest) <= 0:
            continue
        changes = [math.log(value / level) for value in newest]
        if max(changes) < 0:
            changes = [-change for change in changes]
        spread = noise * math.sqrt(1 + MEDIAN_VARIANCE / len(earlier))
        if min(changes) >= math.log1p(MINIMUM_EFFECT) and min(changes) > NOISE_FACTOR * spread:
            z = changes[-1] / spread if spread else math.inf
            return Step(cut, level, median(newest), z, cut, runs, confirmed=False)
    return None
