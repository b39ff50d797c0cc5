"""How far runs of one commit lie apart, and so what a machine can tell apart.

One commit measured again and again (A/A): whatever its figures differ by is noise, for
nothing has changed. Per case:

- the **noise** is the standard deviation of the logarithm of the ratio of two runs; over
  all pairs of runs its mean square is twice the variance of the logarithms;
- the **worst** ratio is that of the highest figure to the lowest;
- the **smallest change seen** is the least slowdown that `torchspeed.watch.analysis.compare`
  calls worse in every pair of runs, in both orders, when the samples of the later run are
  slowed by it and all other cases stay as they were measured, and that is larger than the
  noise (`torchspeed.watch.analysis.noise.calibrated_noise`) times the factor that `compare` asks
  for between runs.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations

from torchspeed.watch.analysis.compare import DEVIATIONS_BETWEEN_RUNS, Verdict, compare_revisions
from torchspeed.watch.analysis.noise import calibrated_noise, noise_together
from torchspeed.watch.history.calibrations import CaseNoise
from torchspeed.watch.history.records import Commit, History, Point, Run, Series

MOST_SEEN = 1.0
"""A slowdown beyond which the search ends: a case that misses it sees nothing."""
_STEP = 0.001  # of a slowdown: 0.1 %


@dataclass(frozen=True, slots=True)
class RepeatedRuns:
    """All cases that have a figure in every run."""

    cases: tuple[CaseNoise, ...]
    without_figure: tuple[str, ...]
    """Names of the cases that ran, but failed in one run at least."""
    comparisons: int
    """Of every case in every pair of runs."""
    false_alarms: int
    """How many of them `compare` calls a difference."""

    @property
    def noise(self) -> float:
        """Of all cases together: the root of the mean square."""
        return noise_together([one.noise for one in self.cases])

    @property
    def worst(self) -> float:
        """Of all cases."""
        return max(one.worst for one in self.cases)


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
    together, failed = _together(runs)
    names = [commit.hash for commit in together.commits]
    verdicts = [
        comparison.significant
        for first, second in combinations(names, 2)
        for comparison in compare_revisions(together, first, second)
    ]
    noises = [_noise(series) for series in together.series]
    return RepeatedRuns(
        cases=tuple(
            _case(together, number, calibrated_noise(noise, noises))
            for number, noise in enumerate(noises)
        ),
        without_figure=failed,
        comparisons=len(verdicts),
        false_alarms=sum(verdicts),
    )


def _together(runs: Sequence[History]) -> tuple[History, tuple[str, ...]]:
    """One history in which each run is a commit, and the cases that lack a figure."""
    last = [{series.case: series.last for series in run.series} for run in runs]
    complete, failed = [], []
    for series in runs[0].series:
        found = [of_run.get(series.case) for of_run in last]
        ran = [run for run in found if run is not None and run.outcome.value in _RAN]
        if len([run for run in ran if run.point is not None]) == len(runs):
            named = {f"run {number}": run for number, run in enumerate(ran, start=1)}
            complete.append(replace(series, runs=named))
        elif ran:
            failed.append(series.case.name)
    commits = tuple(Commit(f"run {number}", number, "") for number in range(1, len(runs) + 1))
    return replace(runs[0], commits=commits, series=tuple(complete), facts={}), tuple(failed)


_RAN = {"ok", "failed", "timed out"}


def _noise(series: Series) -> float:
    """Standard deviation of the logarithm of the ratio of two runs."""
    return math.sqrt(2 * statistics.variance(map(math.log, series.values.values())))


def _case(together: History, number: int, assumed: float) -> CaseNoise:
    """Describe a case; ``assumed`` is the noise that the rules would take for its own."""
    series = together.series[number]
    figures = tuple(series.values.values())
    return CaseNoise(
        case=series.case.name,
        figures=figures,
        samples=min(len(run.point.samples) for run in series.runs.values() if run.point),
        noise=_noise(series),
        worst=max(figures) / min(figures) - 1,
        sees=_smallest_seen(together, number, math.expm1(DEVIATIONS_BETWEEN_RUNS * assumed)),
    )


def _smallest_seen(together: History, number: int, least: float) -> float | None:
    """The smallest slowdown from ``least`` on that no pair of runs misses."""
    names = [commit.hash for commit in together.commits]
    most = math.ceil(MOST_SEEN / _STEP)
    steps = math.ceil(least / _STEP)
    for before, after in permutations(names, 2):
        pair = _pair(together, before, after)
        if steps > most or not _is_seen(pair, number, most * _STEP):
            return None
        low, high = steps - 1, most  # unseen (or below what is asked for), seen
        if _is_seen(pair, number, steps * _STEP):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if _is_seen(pair, number, middle * _STEP) else (middle, high)
        steps = high
    return steps * _STEP


def _pair(together: History, before: str, after: str) -> History:
    """Two runs alone, as when no history tells their noise."""
    series = tuple(
        replace(one, runs={"before": one.runs[before], "after": one.runs[after]})
        for one in together.series
    )
    return replace(
        together, commits=(Commit("before", 0, ""), Commit("after", 1, "")), series=series
    )


def _is_seen(pair: History, number: int, slowdown: float) -> bool:
    slowed = list(pair.series)
    slowed[number] = _slowed(slowed[number], 1 + slowdown)
    compared = compare_revisions(replace(pair, series=tuple(slowed)), "before", "after")
    return compared[number].verdict is Verdict.WORSE


def _slowed(series: Series, factor: float) -> Series:
    """The series with its later run slower by a factor, or by its inverse where more is better."""
    if series.higher_is_better:
        factor = 1 / factor
    runs = dict(series.runs)
    runs["after"] = _scaled(runs["after"], factor)
    return replace(series, runs=runs)


def _scaled(run: Run, factor: float) -> Run:
    assert run.point is not None  # noqa: S101 - cases without a figure were left out
    old = run.point
    return replace(
        run,
        point=Point(
            value=old.value * factor,
            interval=None if old.interval is None else _both(old.interval, factor),
            quartiles=None if old.quartiles is None else _both(old.quartiles, factor),
            samples=tuple(sample * factor for sample in old.samples),
            started_at=old.started_at,
        ),
    )


def _both(ends: tuple[float, float], factor: float) -> tuple[float, float]:
    return ends[0] * factor, ends[1] * factor
