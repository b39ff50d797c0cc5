"""A series: the runs of one case over all commits of a machine and an environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from asv_watch.records.records import NEVER_RUN, Case, Outcome, Run

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class RunColumns:
    """The runs of a case that are more than `NEVER_RUN`, oldest first, and columns of them."""

    commits: tuple[str, ...]
    """Hashes of all measured commits; the cases of one machine and environment share them."""
    rows: tuple[Run, ...]
    commit_of_row: tuple[int, ...]
    """For each run the index of its commit in ``commits``."""

    @classmethod
    def of(cls, runs: Mapping[str, Run]) -> RunColumns:
        """Return the columns of runs by commit hash, oldest first."""
        rows = [
            (index, run)
            for index, run in enumerate(runs.values())
            if run.outcome is not Outcome.NEVER_RUN
        ]
        return cls(tuple(runs), tuple(run for _, run in rows), tuple(index for index, _ in rows))

    def runs(self) -> dict[str, Run]:
        """Return the run of each commit, `NEVER_RUN` where there is none."""
        runs = dict.fromkeys(self.commits, NEVER_RUN)
        for index, run in zip(self.commit_of_row, self.rows, strict=True):
            runs[self.commits[index]] = run
        return runs

    def where(self, chosen: Sequence[bool] | npt.NDArray[np.bool_]) -> RunColumns:
        """Return the columns with some of the runs."""
        kept = np.flatnonzero(chosen).tolist()
        rows = tuple(self.rows[row] for row in kept)
        return RunColumns(self.commits, rows, tuple(self.commit_of_row[row] for row in kept))

    @cached_property
    def indices(self) -> Indices:
        """Index in ``commits`` of each run."""
        return np.array(self.commit_of_row, dtype=np.intp)

    @cached_property
    def values(self) -> Floats:
        """Value of each run, in the unit of the benchmark; NaN of a run without one."""
        return np.array([run.point.value if run.point else np.nan for run in self.rows])

    @property
    def interval(self) -> Floats:
        """Lower and upper end of the interval of each run, or NaN; (runs, 2)."""
        unknown = (np.nan, np.nan)
        ends = [(run.point and run.point.interval) or unknown for run in self.rows]
        return np.array(ends).reshape(len(self.rows), 2)

    @cached_property
    def valued(self) -> RunColumns:
        """The columns of the runs that have a value."""
        return self.where([run.point is not None for run in self.rows])


@dataclass(frozen=True)
class Series:
    """All runs of one case on one machine in one environment, by commit."""

    machine: str
    environment: str
    case: Case
    unit: str
    higher_is_better: bool
    columns: RunColumns
    """Its runs, for each commit of which this machine and environment hold any result."""

    @cached_property
    def runs(self) -> dict[str, Run]:
        """Commit hash to run, oldest commit first: ``NEVER_RUN`` where this case has none."""
        return self.columns.runs()

    @property
    def values(self) -> dict[str, float]:
        """Commit hash to value, oldest first, of the runs that have one."""
        return {hash_: run.point.value for hash_, run in self.runs.items() if run.point}

    @property
    def last(self) -> Run:
        """The newest run that is more than ``NEVER_RUN``, or ``NEVER_RUN`` if there is none."""
        return self.columns.rows[-1] if self.columns.rows else NEVER_RUN
