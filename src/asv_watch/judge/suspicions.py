"""Suspicions: changes that separate runs hint at, and that no comparison has measured yet.

A change point of a series is a suspicion if it is confirmed, or recent and clear enough
(`asv_watch.statistics.change_points`); newest runs that each differ from the level before them are
one as well (`asv_watch.statistics.newest_jump`). Its size is only a guess: two runs of one commit
differ by several per cent on a busy machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from asv_watch.judge.segments import Segment
from asv_watch.statistics.change_points import Step, values_to_confirm
from asv_watch.statistics.newest_jump import newest_jump
from asv_watch.statistics.noise import caution
from asv_watch.statistics.pruning import FEWEST_VALUES

MOST_NEW_RUNS = values_to_confirm() - FEWEST_VALUES
"""Newest runs of a series among which a change point need not be confirmed."""
RECENT_Z = 4.5
"""Standard errors, times the caution for few values (`noise.caution`), by which the levels differ
at a recent change point that is a suspicion."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A change of the level of a series, as its runs show it."""

    previous: int
    """Index in the history's commits of the last one measured before it."""
    commit: int
    """Index of the first commit measured after it."""
    levels: tuple[float, float]
    """Before and after, in the unit of the series."""


def find_suspicions(
    segments: Sequence[Segment], steps: Sequence[Sequence[Step]], noise: float | None
) -> list[Suspicion]:
    """List the suspicions of a series, oldest first.

    Args:
        segments: Of the series, oldest first.
        steps: The change points of each segment, confirmed or not.
        noise: Noise of the series between runs, if known.
    """
    suspicions = []
    later = sum(len(segment.values) for segment in segments)
    for segment, of_segment in zip(segments, steps, strict=True):
        later -= len(segment.values)
        commits: list[int] = segment.commits.tolist()
        suspicions += [
            Suspicion(
                commits[step.position - 1], commits[step.position], (step.before, step.after)
            )
            for step in _suspected(
                segment.values.tolist(), of_segment, noise, MOST_NEW_RUNS - later
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
            suspected.append(replace(jump, position=start + jump.position))
    return suspected
