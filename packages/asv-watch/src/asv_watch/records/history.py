"""All that a results folder says about the commits of a branch, with a series for each case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from asv_watch.comparison import Comparison
from asv_watch.records import records
from asv_watch.records.labels import UNDECLARED, Layout
from asv_watch.records.notes import Notes
from asv_watch.records.store import StoredExplanation
from asv_watch.versions.version import Commit

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
_VERSION = re.compile(r"v?\d+(\.\d+)+\w*")


@dataclass(frozen=True, eq=False)
class RunColumns:
    """The runs of a case apart from `NEVER_RUN`, oldest first, and their columns."""

    commits: tuple[str, ...]
    """Hashes of all commits measured by the machine in the environment, oldest first."""
    indices: Indices
    """Index in ``commits`` of each run."""
    stored: Sequence[records.Run]

    def __len__(self) -> int:
        return len(self.stored)

    @cached_property
    def values(self) -> Floats:
        """Value of each run, in the unit of the benchmark; NaN for a run without one."""
        return np.array([run.value for run in self.stored], np.float64)

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
        kept = np.flatnonzero(~np.isnan(self.values))
        stored = [self.stored[row] for row in kept.tolist()]
        return RunColumns(self.commits, self.indices[kept], stored)


@dataclass(frozen=True)
class Series:
    """All runs of one case on one machine in one environment, by commit."""

    machine: str
    environment: str
    case: records.Case
    unit: str
    higher_is_better: bool
    columns: RunColumns
    """Its runs, for each commit with any result of this machine and environment."""

    @cached_property
    def runs(self) -> dict[str, records.Run]:
        """Maps a commit hash, oldest first, to its run: ``NEVER_RUN`` if this case has none."""
        columns = self.columns
        runs = dict.fromkeys(columns.commits, records.NEVER_RUN)
        for index, run in zip(columns.indices.tolist(), columns.stored, strict=True):
            runs[columns.commits[index]] = run
        return runs

    @property
    def last(self) -> records.Run:
        """The newest run apart from ``NEVER_RUN``, or ``NEVER_RUN`` if there is none."""
        return self.columns.stored[-1] if self.columns else records.NEVER_RUN


@dataclass(frozen=True)
class History:
    """Everything that the tracked results say."""

    commits: tuple[Commit, ...] = ()
    """Oldest first, along the tracked branch: those with results, those that were compared with
    others, and the tagged ones."""
    machines: dict[str, records.Machine] = field(default_factory=dict)
    environments: dict[str, records.Environment] = field(default_factory=dict)
    benchmarks: dict[str, records.Benchmark] = field(default_factory=dict)
    series: tuple[Series, ...] = ()
    problems: tuple[records.Problem, ...] = ()
    left_out: tuple[records.LeftOut, ...] = ()
    facts: dict[tuple[str, str], dict[str, dict[str, str]]] = field(default_factory=dict)
    """Maps machine and environment, then a commit hash, oldest first, to the facts of its results:
    those of the machine, ``requirement <name>`` and ``variable <name>``."""
    recorded: dict[tuple[str, str], dict[str, tuple[records.Record, ...]]] = field(
        default_factory=dict
    )
    """Maps machine and environment, then a commit hash, oldest first, to the records of its runs,
    oldest first. Commits from before runs had records are missing."""
    notes: Notes = field(default_factory=Notes)
    """What people wrote in ``results/notes.toml``."""
    positions: dict[str, int] = field(default_factory=dict)
    """Maps each commit hash of the branch to the number of commits before it."""
    comparisons: dict[str, tuple[Comparison, ...]] = field(default_factory=dict)
    """Maps a machine to its interleaved comparisons, oldest first."""
    explanations: dict[str, tuple[StoredExplanation, ...]] = field(default_factory=dict)
    """Maps a machine to its explanations of differences, oldest first."""
    layout: Layout = UNDECLARED
    """How the project declares rows and columns."""

    @cached_property
    def order(self) -> dict[str, int]:
        """Maps a commit hash to its index in `commits`."""
        return {commit.hash: index for index, commit in enumerate(self.commits)}

    @cached_property
    def hashes(self) -> dict[int, str]:
        """Maps a position along the branch to the hash of its commit."""
        return {position: commit for commit, position in self.positions.items()}

    @cached_property
    def _indices(self) -> dict[tuple[str, ...], Indices]:
        return {
            commits: np.array([self.order[commit] for commit in commits], np.intp)
            for commits in {series.columns.commits for series in self.series}
        }

    @cached_property
    def versions(self) -> dict[str, str]:
        """Maps a commit hash to the version of the package that its tag names."""
        return {
            commit.hash: tag
            for commit in self.commits
            for tag in commit.tags
            if _VERSION.fullmatch(tag)
        }

    def indices(self, columns: RunColumns) -> Indices:
        """Return the index in `commits` of each row of the columns of a series."""
        return self._indices[columns.commits][columns.indices]
