"""The runs of a machine and environment as columns: numbers in arrays, one series after another.

Most runs of a row of a result file differ only in their numbers. So they share one **origin**, a
run without a value, and a `Run` of their own is made only where one is asked for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from asv_watch.records.records import NEVER_RUN, Point, Run

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


class CommitRuns(msgspec.Struct):
    """The runs of one commit, in any order; of two runs of a case the first one counts."""

    cases: list[int] = []
    """Index of the case of each run."""
    values: list[float] = []
    """Value of each run; NaN if it has none."""
    lows: list[float] = []
    """Lower end of the interval of each run, or NaN."""
    highs: list[float] = []
    origins: list[Run] = []
    counts: list[int] = []
    """Number of successive runs that have each origin."""

    def add(self, case: int, run: Run) -> None:
        """Add a run."""
        point = run.point or _NO_VALUE
        ends = point.interval or _NO_INTERVAL
        self.add_alike([case], [point.value], [ends[0]], [ends[1]], run)

    def add_alike(
        self,
        cases: Sequence[int],
        values: Sequence[float],
        lows: Sequence[float],
        highs: Sequence[float],
        origin: Run,
    ) -> None:
        """Add runs that differ only in their numbers."""
        self.cases += cases
        self.values += values
        self.lows += lows
        self.highs += highs
        self.origins.append(origin)
        self.counts.append(len(cases))


_NO_VALUE = Point(math.nan)
_NO_INTERVAL = (math.nan, math.nan)


@dataclass(frozen=True, eq=False)
class RunSources:
    """What the series of one machine and environment share."""

    commits: tuple[str, ...]
    """Hashes of all measured commits, oldest first."""
    origins: tuple[Run, ...]
    """Runs whose value, if they have one, does not count."""

    @cached_property
    def recipes(self) -> Indices:
        """A number for the recipe of each origin."""
        recipes = dict.fromkeys(origin.recipe for origin in self.origins)
        numbers = {recipe: number for number, recipe in enumerate(recipes)}
        return np.array([numbers[origin.recipe] for origin in self.origins], np.intp)


@dataclass(frozen=True, eq=False)
class RunColumns:
    """The runs of a case apart from `NEVER_RUN`, oldest first, and their columns."""

    sources: RunSources
    indices: Indices
    """Index in ``sources.commits`` of each run."""
    origins: Indices
    """Index in ``sources.origins`` of each run."""
    numbers: Floats
    """Value and both ends of the interval of each run, or NaN; shape (runs, 3)."""

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.indices)

    def run(self, row: int) -> Run:
        """Return one of the runs."""
        return _with_numbers(self.sources.origins[self.origins[row]], *self.numbers[row].tolist())

    def runs(self) -> dict[str, Run]:
        """Return the run of each commit, `NEVER_RUN` if there is none."""
        commits, origins = self.sources.commits, self.sources.origins
        columns = self.indices.tolist(), self.origins.tolist(), self.numbers.tolist()
        runs = dict.fromkeys(commits, NEVER_RUN)
        for index, origin, numbers in zip(*columns, strict=True):
            runs[commits[index]] = _with_numbers(origins[origin], *numbers)
        return runs

    @property
    def values(self) -> Floats:
        """Value of each run, in the unit of the benchmark; NaN for a run without one."""
        return self.numbers[:, 0]

    @property
    def interval(self) -> Floats:
        """Lower and upper end of the interval of each run, or NaN; shape (runs, 2)."""
        return self.numbers[:, 1:]

    @property
    def recipes(self) -> Indices:
        """A number for the recipe of each run."""
        return self.sources.recipes[self.origins]

    @cached_property
    def valued(self) -> RunColumns:
        """The columns of the runs that have a value."""
        kept = ~np.isnan(self.values)
        return RunColumns(self.sources, self.indices[kept], self.origins[kept], self.numbers[kept])


def _with_numbers(origin: Run, value: float, low: float, high: float) -> Run:
    if math.isnan(value):
        return origin
    point = Point(value, None if math.isnan(low) else (low, high))
    return Run(origin.outcome, point, origin.reason, origin.at, origin.recipe)


def columns_by_case(by_commit: Mapping[str, CommitRuns], cases: int) -> list[RunColumns]:
    """Return the columns of each case.

    Args:
        by_commit: Maps a commit hash, oldest first, to its runs.
        cases: Number of cases.
    """
    commits = list(by_commit.values())
    case_of = _flat([runs.cases for runs in commits], np.min_scalar_type(cases))
    commit_of = np.repeat(np.arange(len(commits)), [len(runs.cases) for runs in commits])
    counts = _flat([runs.counts for runs in commits], np.dtype(np.intp))
    origin_of = np.repeat(np.arange(len(counts)), counts)
    columns = (
        [runs.values for runs in commits],
        [runs.lows for runs in commits],
        [runs.highs for runs in commits],
    )
    numbers = np.array([_flat(column, np.dtype(np.float64)) for column in columns])
    order = np.argsort(case_of, kind="stable")  # the runs of a case remain in order of commits
    cases_in_order, commits_in_order = case_of[order], commit_of[order]
    is_repeated = (np.diff(cases_in_order) == 0) & (np.diff(commits_in_order) == 0)
    order = np.delete(order, np.flatnonzero(is_repeated) + 1)
    commit_of, origin_of, numbers = commit_of[order], origin_of[order], numbers[:, order].T
    bounds = [0, *np.cumsum(np.bincount(case_of[order], minlength=cases)).tolist()]
    sources = RunSources(
        tuple(by_commit), tuple(itertools.chain.from_iterable(runs.origins for runs in commits))
    )
    return [
        RunColumns(sources, commit_of[part], origin_of[part], numbers[part])
        for part in itertools.starmap(slice, itertools.pairwise(bounds))
    ]


def _flat(lists: Sequence[Sequence[float]], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    return np.fromiter(itertools.chain.from_iterable(lists), dtype, sum(map(len, lists)))
