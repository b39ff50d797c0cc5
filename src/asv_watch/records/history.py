"""All that a results folder says about the commits of a branch."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from asv_watch.records.comparisons import StoredComparison
from asv_watch.records.explanations import StoredExplanation
from asv_watch.records.notes import Notes
from asv_watch.records.records import (
    Benchmark,
    Commit,
    Environment,
    LeftOut,
    Machine,
    Problem,
    Record,
)
from asv_watch.records.releases import TriedRelease
from asv_watch.records.series import Indices, RunColumns, Series

_VERSION = re.compile(r"v?\d+(\.\d+)+\w*")


@dataclass(frozen=True)
class History:
    """Everything that the tracked results say."""

    commits: tuple[Commit, ...]
    """Oldest first, along the tracked branch: those with results, those that were compared with
    others, and the tagged ones."""
    machines: dict[str, Machine]
    environments: dict[str, Environment]
    benchmarks: dict[str, Benchmark]
    series: tuple[Series, ...]
    problems: tuple[Problem, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    facts: dict[tuple[str, str], dict[str, dict[str, str]]] = field(default_factory=dict)
    """(machine, environment) to commit hash, oldest first, to where and with what that
    commit's results were measured: machine facts, ``requirement <name>``, ``variable <name>``."""
    recorded: dict[tuple[str, str], dict[str, tuple[Record, ...]]] = field(default_factory=dict)
    """(machine, environment) to commit hash, oldest first, to what the runs of that commit
    recorded of where they ran, oldest first; commits from before this was recorded are missing."""
    notes: Notes | None = None
    """What people wrote about changes and recipes."""
    positions: dict[str, int] = field(default_factory=dict)
    """Commit hash to the number of commits before it, for all commits of the branch."""
    comparisons: dict[str, tuple[StoredComparison, ...]] = field(default_factory=dict)
    """Machine to its interleaved comparisons, oldest first."""
    explanations: dict[str, tuple[StoredExplanation, ...]] = field(default_factory=dict)
    """Machine to its explanations of differences, oldest first."""
    releases: dict[str, dict[str, TriedRelease]] = field(default_factory=dict)
    """Machine to each release that it tried, by its name, such as ``numpy 2.4.0``."""

    @cached_property
    def order(self) -> dict[str, int]:
        """Commit hash to index in `commits`."""
        return {commit.hash: index for index, commit in enumerate(self.commits)}

    @cached_property
    def hashes(self) -> dict[int, str]:
        """Number of commits before a commit along the branch, to its hash."""
        return {position: commit for commit, position in self.positions.items()}

    @cached_property
    def _indices(self) -> dict[tuple[str, ...], Indices]:
        """Commit hashes of the series of a machine and environment, to indices in `commits`."""
        return {
            hashes: np.array([self.order[commit] for commit in hashes], dtype=np.intp)
            for hashes in {series.columns.commits for series in self.series}
        }

    @cached_property
    def versions(self) -> dict[str, str]:
        """Commit hash to the version of the package that a tag of the commit names."""
        return {
            commit.hash: tag
            for commit in self.commits
            for tag in commit.tags
            if _VERSION.fullmatch(tag)
        }

    def indices(self, columns: RunColumns) -> Indices:
        """Return the index in `commits` of each row of the columns of a series."""
        return self._indices[columns.commits][columns.indices]

    def in_any(self, indices: Iterable[Indices]) -> list[int]:
        """Return the indices in `commits` that any of several arrays has, oldest first."""
        is_there = np.zeros(len(self.commits), dtype=bool)
        for of_array in indices:
            is_there[of_array] = True
        places: list[int] = np.flatnonzero(is_there).tolist()
        return places
