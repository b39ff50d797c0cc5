"""Suspicions that most series of a machine share: the machine changed, not the code.

A commit usually changes few cases. If most timings of a machine move in the same direction at the
same commit, the machine has changed: a kernel, a clock, a neighbour, or another kind of runner
under the same name. Each series of the environment with values before and after has a vote, even
if it is not suspected or too noisy for that. It moved by the ratio of the medians of its
neighbouring runs on both sides. Three of five votes decide. One commit that changes everything (a
flag, an allocator) looks the same as the machine.

A series whose other suspicions go back and forth by the same size alternates between two levels:
it was measured by two kinds of machines under one name, or by one that has two states. Code that
becomes slower and is corrected goes there and back once, so only a third step is an alternation.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

import msgspec
import numpy as np

from asv_watch.records.columns import Floats, Indices
from asv_watch.records.history import History, Series
from asv_watch.statistics.rule import MINIMUM_EFFECT

SHARE = 0.6
"""Share of the voting series that must move together."""
FEWEST_SERIES = 5
FEWEST_ROWS = 3
LEVEL_VALUES = 5
"""The level on each side of a commit is the median of at most this many runs."""
LEAST_SIZE = 0.25
"""Other series must move by at least this share of a suspicion's size."""
FEWEST_ALTERNATIONS = 3
"""This many successive suspicions, each the reverse of the one before, are an alternation."""
_SAME_SIZE = 0.25
"""Two steps of an alternation may differ in size by this share of the larger one."""

MachineCause = Literal["machine", "alternation"]
_Group = tuple[str, str, str]


class SuspectedChange(Protocol):
    """A change of one series that separate runs show."""

    @property
    def series(self) -> int:
        """Index of the series in the history."""

    @property
    def commit(self) -> int:
        """Index of the first commit measured after it."""

    @property
    def ratio(self) -> float | None:
        """After over before; every suspicion has one."""


def machine_causes(
    history: History, suspected: Sequence[SuspectedChange]
) -> dict[tuple[int, int], MachineCause]:
    """Map (series, commit) of each suspected change that code did not cause to its cause."""
    shared = _shared_by_most(history, suspected)
    others = [change for change in suspected if (change.series, change.commit) not in shared]
    causes: dict[tuple[int, int], MachineCause] = dict.fromkeys(shared, "machine")
    return causes | dict.fromkeys(_alternating(others), "alternation")


def _shared_by_most(
    history: History, suspected: Iterable[SuspectedChange]
) -> set[tuple[int, int]]:
    members: dict[_Group, list[Series]] = defaultdict(list)
    for series in history.series:
        members[_group(series)].append(series)
    together: dict[_Group, dict[int, list[SuspectedChange]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for change in suspected:
        together[_group(history.series[change.series])][change.commit].append(change)
    shared: set[tuple[int, int]] = set()
    for group, changes_by_commit in together.items():
        voters = _Voters(history, members[group], list(changes_by_commit))
        for index, (commit, changes) in enumerate(changes_by_commit.items()):
            votes = voters.votes(index)
            shared |= {(change.series, commit) for change in changes if _is_shared(change, votes)}
    return shared


def _group(series: Series) -> _Group:
    """Return the series that vote together: those of one metric."""
    return series.machine, series.environment, series.case.labels["metric"]


class _Votes(msgspec.Struct, frozen=True):
    """The series that have values on both sides of a commit, and how far each moved."""

    rows: Indices
    """Row of each series."""
    moves: Floats
    """Logarithm of each series' ratio."""


class _Voters:
    """The values of all series that vote together, laid out so that a vote reads few of them."""

    def __init__(
        self, history: History, members: Sequence[Series], commits: Sequence[int]
    ) -> None:
        """Lay out the values of the series that vote at some commits."""
        columns = [series.columns.valued for series in members]
        names = [history.layout.row(series.case) for series in members]
        self._rows = np.unique(names, return_inverse=True)[1]
        self._counts = np.array([len(series_columns) for series_columns in columns], np.intp)
        longest = int(self._counts.max())
        self._firsts = np.empty((len(commits), len(members)), np.intp)
        # Both sides are padded, so that every window lies within.
        self._values = np.full((len(members), longest + 2 * LEVEL_VALUES), np.nan)
        for number, (series_columns, count) in enumerate(zip(columns, self._counts, strict=True)):
            measured = history.indices(series_columns)
            self._firsts[:, number] = np.searchsorted(measured, commits)
            self._values[number, LEVEL_VALUES : LEVEL_VALUES + count] = series_columns.values

    def votes(self, index: int) -> _Votes:
        """Return how far each series moved at one of the commits, by its neighbouring runs."""
        first = self._firsts[index]
        voting = np.flatnonzero((first > 0) & (first < self._counts))
        near = first[voting, None] + np.arange(2 * LEVEL_VALUES)
        values = self._values[voting[:, None], near]
        positive = ~(values <= 0).any(axis=1)
        voting, values = voting[positive], values[positive]
        before, after = map(_medians, (values[:, :LEVEL_VALUES], values[:, LEVEL_VALUES:]))
        return _Votes(self._rows[voting], np.log(after / before))


def _medians(values: Floats) -> Floats:
    """Return the median of each row, its NaN left out; numpy's takes twenty times as long."""
    ordered = np.sort(values, axis=1)  # NaN last
    last = np.count_nonzero(~np.isnan(values), axis=1) - 1
    rows = np.arange(len(values))
    middle: Floats = (ordered[rows, last // 2] + ordered[rows, (last + 1) // 2]) / 2
    return middle


def _alternating(suspected: Iterable[SuspectedChange]) -> set[tuple[int, int]]:
    alternating: set[tuple[int, int]] = set()
    succession: list[SuspectedChange] = []
    for change in sorted(suspected, key=lambda change: (change.series, change.commit)):
        if succession and not _takes_back(change, succession[-1]):
            succession = []
        succession.append(change)
        if len(succession) >= FEWEST_ALTERNATIONS:
            alternating |= {(change.series, change.commit) for change in succession}
    return alternating


def _takes_back(change: SuspectedChange, earlier: SuspectedChange) -> bool:
    sizes = _size(change), _size(earlier)
    largest = max(map(abs, sizes))
    return change.series == earlier.series and abs(sum(sizes)) <= _SAME_SIZE * largest


def _size(change: SuspectedChange) -> float:
    """Return the logarithm of the ratio, which every suspicion has."""
    return math.log(change.ratio or 1.0)


def _is_shared(change: SuspectedChange, votes: _Votes) -> bool:
    size = _size(change)
    least = max(math.log1p(MINIMUM_EFFECT), LEAST_SIZE * abs(size))
    agreeing = votes.rows[math.copysign(1, size) * votes.moves >= least]
    return (
        len(agreeing) >= max(FEWEST_SERIES, SHARE * len(votes.moves))
        and len(set(agreeing.tolist())) >= FEWEST_ROWS
    )
