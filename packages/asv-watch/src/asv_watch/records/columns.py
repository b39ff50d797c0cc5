"""The runs of a case as columns, in arrays of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from asv_watch.records.records import NEVER_RUN, Point, Run

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
_NO_VALUE, _NO_INTERVAL = Point(math.nan), (math.nan, math.nan)


@dataclass(frozen=True, eq=False)
class RunSources:
    """What the series of one machine and environment share."""

    commits: tuple[str, ...]
    """Hashes of all measured commits, oldest first."""


@dataclass(frozen=True, eq=False)
class RunColumns:
    """The runs of a case apart from `NEVER_RUN`, oldest first, and their columns."""

    sources: RunSources
    indices: Indices
    """Index in ``sources.commits`` of each run."""
    stored: Sequence[Run]

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.stored)

    def run(self, row: int) -> Run:
        """Return one of the runs."""
        return self.stored[row]

    def runs(self) -> dict[str, Run]:
        """Return the run of each commit, `NEVER_RUN` if there is none."""
        runs = dict.fromkeys(self.sources.commits, NEVER_RUN)
        for index, run in zip(self.indices.tolist(), self.stored, strict=True):
            runs[self.sources.commits[index]] = run
        return runs

    @cached_property
    def values(self) -> Floats:
        """Value of each run, in the unit of the benchmark; NaN for a run without one."""
        return np.array([(run.point or _NO_VALUE).value for run in self.stored], np.float64)

    @cached_property
    def interval(self) -> Floats:
        """Lower and upper end of the interval of each run, or NaN; shape (runs, 2)."""
        ends = [(run.point or _NO_VALUE).interval or _NO_INTERVAL for run in self.stored]
        return np.array(ends, np.float64).reshape(-1, 2)

    @cached_property
    def recipes(self) -> Indices:
        """A number for the recipe of each run."""
        numbers: dict[str, int] = {}
        return np.array(
            [numbers.setdefault(run.recipe, len(numbers)) for run in self.stored], np.intp
        )

    @cached_property
    def valued(self) -> RunColumns:
        """The columns of the runs that have a value."""
        kept = np.array([run.point is not None for run in self.stored], bool)
        stored = [run for run in self.stored if run.point is not None]
        return RunColumns(self.sources, self.indices[kept], stored)
