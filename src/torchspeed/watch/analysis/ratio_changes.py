"""Changes that the ratios to the reference show: smaller ones than runs do.

The ratio of a commit to the reference has a known standard error of some 0.5 %, where runs on
different nights differ by several per cent. The same rules as for runs apply: change points, with
the standard error of each point, and newest points that each differ from the median before them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from torchspeed.watch.analysis.change_points import find_steps
from torchspeed.watch.analysis.reference_series import RatioPoint, reference_series
from torchspeed.watch.analysis.rule import Measurement, Verdict, judge
from torchspeed.watch.history.history import History

LEVEL_POINTS = 10
"""The level before the newest points is the median of at most so many."""

Points = dict[str, RatioPoint]
"""Commit hash to the newest ratio of it, oldest commit first."""


@dataclass(frozen=True, slots=True)
class RatioChange:
    """A change of the ratio to the reference between two commits."""

    previous: str
    """Hash of the last commit before it that was compared with the reference."""
    commit: str
    """Hash of the first such commit after it."""
    ratio: float
    """Ratio after over ratio before."""
    runs: int
    """Number of points at the new level."""
    confirmed: bool


def points_by_series(history: History) -> dict[tuple[str, str, str], Points]:
    """Collect the ratios of every machine, case and torch release, commits in their order."""
    collected: dict[tuple[str, str, str], Points] = {}
    comparisons = [one for of_machine in history.comparisons.values() for one in of_machine]
    for series in reference_series(comparisons):
        for point in series.points:
            if point.version.commit in history.positions:
                key = (point.machine, series.case, series.torch)
                collected.setdefault(key, {})[point.version.commit] = point
    return {key: _in_order(points, history.positions) for key, points in collected.items()}


def _in_order(points: Points, positions: Mapping[str, int]) -> Points:
    return {commit: points[commit] for commit in sorted(points, key=positions.__getitem__)}


def ratio_changes(points: Points, most_new: int) -> list[RatioChange]:
    """Find the changes of one series of ratios, oldest first.

    Args:
        points: The ratios.
        most_new: Newest points among which an unconfirmed change is reported.
    """
    commits = list(points)
    ratios = [point.ratio for point in points.values()]
    # Rounds that agree to the last digit have no measurable error.
    errors = [max(point.standard_error, 1e-4) for point in points.values()]
    steps = [
        step
        for step in find_steps(ratios, standard_errors=errors)
        if step.confirmed or step.values_after <= most_new
    ]
    changes = [
        RatioChange(
            previous=commits[step.position - 1],
            commit=commits[step.position],
            ratio=step.ratio,
            runs=step.values_after,
            confirmed=step.confirmed,
        )
        for step in steps
    ]
    start = steps[-1].position if steps else 0
    newest = _newest_jump(ratios[start:], errors[start:], most_new)
    if newest is not None:
        runs, ratio = newest
        changes.append(RatioChange(commits[-runs - 1], commits[-runs], ratio, runs, False))
    return changes


def _newest_jump(
    ratios: Sequence[float], errors: Sequence[float], most: int
) -> tuple[int, float] | None:
    """Number of newest points that each differ from the level before, and the ratio to it."""
    for runs in range(min(most, len(ratios) - 1), 0, -1):
        earlier = ratios[:-runs][-LEVEL_POINTS:]
        level = median(earlier)
        before = Measurement(level, None, _error_of_level(errors[:-runs][-LEVEL_POINTS:]))
        verdicts = {
            judge(before, Measurement(ratio, None, error)).verdict
            for ratio, error in zip(ratios[-runs:], errors[-runs:], strict=True)
        }
        if len(verdicts) == 1 and Verdict.SAME not in verdicts:
            return runs, median(ratios[-runs:]) / level
    return None


def _error_of_level(errors: Iterable[float]) -> float:
    squares = [error**2 for error in errors]
    return math.sqrt(fmean(squares) / len(squares))
