"""Noise between repeated runs of one commit, and the changes that it hides.

One commit is measured again and again (A/A): whatever its values differ by is noise, for nothing
has changed. Per case:

- the **noise** is the standard deviation of the logarithm of the ratio of two runs; over
  all pairs of runs its mean square is twice the variance of the logarithms;
- the **worst** ratio is that of the highest value to the lowest;
- the **smallest slowdown detected** is the least that `asv_watch.statistics.rule` calls
  worse in every pair of runs, in both orders, with the noise that the rule takes for this case
  (`asv_watch.statistics.noise.calibrated_noise`).

A **false alarm** is a pair of runs that the rule calls different. The noise of the case itself
comes from the same runs and would excuse them, so the noise of all cases together counts here.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from asv_watch.records.calibrations import CaseNoise
from asv_watch.records.history import History
from asv_watch.records.records import Case, Point
from asv_watch.statistics.noise import calibrated_noise, noise_together
from asv_watch.statistics.rule import Measurement, judge, smallest_difference


@dataclass(frozen=True, slots=True)
class RepeatedRuns:
    """All cases that have a value in every run."""

    cases: tuple[CaseNoise, ...]
    without_value: tuple[str, ...]
    """Names of the cases that ran, but failed in one run at least."""
    comparisons: int
    """Of every case in every pair of runs."""
    false_alarms: int
    """How many of them the rule calls a difference."""

    @property
    def noise(self) -> float:
        """Of all cases together: the root of the mean square."""
        return noise_together([case.noise for case in self.cases])

    @property
    def worst(self) -> float:
        """Of all cases."""
        return max(case.worst for case in self.cases)


def compare_runs(runs: Sequence[History]) -> RepeatedRuns:
    """Describe what runs of one commit differ by.

    Args:
        runs: Two at least, each a history of one run: one commit on one machine in one
            environment. Cases that were skipped or not asked for are left aside.

    Raises:
        ValueError: There are fewer than two runs.
    """
    if len(runs) < 2:
        raise ValueError(f"{len(runs)} runs have nothing to compare: give two at least")
    points, failed = _points_by_case(runs)
    noises = {case: _noise(of_case) for case, of_case in points.items()}
    pairs = [pair for of_case in points.values() for pair in combinations(of_case, 2)]
    of_a_run = noise_together(list(noises.values())) / math.sqrt(2) if noises else 0.0
    return RepeatedRuns(
        cases=tuple(
            _case(case, of_case, noises[case], calibrated_noise(noises[case], [*noises.values()]))
            for case, of_case in points.items()
        ),
        without_value=failed,
        comparisons=len(pairs),
        false_alarms=sum(
            judge(_measurement(first, of_a_run), _measurement(second, of_a_run)).differs
            for first, second in pairs
        ),
    )


def _points_by_case(runs: Sequence[History]) -> tuple[dict[Case, list[Point]], tuple[str, ...]]:
    """Return the points of cases that have one in every run, and the names of the others."""
    last = [{series.case: series.last for series in run.series} for run in runs]
    complete: dict[Case, list[Point]] = {}
    failed = []
    for case in last[0]:
        ran = [run for of_run in last if (run := of_run.get(case)) and run.outcome.value in _RAN]
        points = [run.point for run in ran if run.point is not None]
        if len(points) == len(runs):
            complete[case] = points
        elif ran:
            failed.append(case.name)
    return complete, tuple(failed)


_RAN = {"ok", "failed", "timed out"}


def _noise(points: Sequence[Point]) -> float:
    """Return the standard deviation of the logarithm of the ratio of two runs."""
    return math.sqrt(2 * statistics.variance(math.log(point.value) for point in points))


def _measurement(point: Point, noise: float) -> Measurement:
    return Measurement(point.value, point.interval, noise)


def _case(case: Case, points: Sequence[Point], noise: float, assumed: float) -> CaseNoise:
    """Describe a case; ``assumed`` is the noise of a ratio that the rule will take for it."""
    values = tuple(point.value for point in points)
    return CaseNoise(
        case=case.name,
        values=values,
        samples=min(len(point.samples) for point in points),
        noise=noise,
        worst=max(values) / min(values) - 1,
        detectable=max(
            _smallest_seen(before, after, assumed) for before, after in permutations(points, 2)
        ),
    )


def _smallest_seen(before: Point, after: Point, noise: float) -> float:
    """Return the slowdown from which the rule calls the second run worse than the first.

    The slowed value of the second run has to exceed that of the first by the smallest
    difference, and the low end of its interval has to exceed the high end of the first interval.
    """
    least = (1 + smallest_difference(noise)) * before.value / after.value
    if before.interval and after.interval:
        least = max(least, before.interval[1] / after.interval[0])
    return least - 1
