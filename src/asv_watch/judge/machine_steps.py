"""Suspicions that most series of a machine share: the machine has changed instead of the code.

A commit touches a row or two of the table of values. When most timings of a machine move in the
same direction at the same commit, the machine has changed: a kernel, a clock, a neighbour, another
kind of runner under the same name. Each series of the environment with values before and after has
a vote, whether it is suspected itself or too noisy for that: the medians of its neighbouring runs
on both sides say how far it moved. Three of five votes carry. One commit that changes everything
(a flag, an allocator) looks the same as the machine.

A series whose other suspicions go back and forth by the same size alternates between two levels:
it was measured by two kinds of machines under one name, or by one that has two states. Code that
becomes slower and is corrected goes there and back once, so only a third step is an alternation.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

import numpy as np

from asv_watch.judge.changes import Cause, Change
from asv_watch.records.history import History, Series
from asv_watch.statistics.rule import MINIMUM_EFFECT

SHARE = 0.6
"""Share of the voting series that must move together."""
FEWEST_SERIES = 5
FEWEST_ROWS = 3
LEVEL_VALUES = 5
"""A series' level before and after a commit is the median of so many runs at most."""
LEAST_SIZE = 0.25
"""Share of a suspicion's size that others must move by: what is far larger is its own."""
FEWEST_ALTERNATIONS = 3
"""Suspicions in succession, each of which takes back the one before it, that alternate."""
_SAME_SIZE = 0.25
"""Share of the larger of two steps by which they may differ in size."""

_Group = tuple[str, str, str]


def machine_causes(history: History, suspected: Sequence[Change]) -> dict[tuple[int, int], Cause]:
    """Return the series and commit of each suspected change that is not the code's, and why."""
    shared = _shared_by_most(history, suspected)
    others = [change for change in suspected if (change.series, change.commit) not in shared]
    causes: dict[tuple[int, int], Cause] = dict.fromkeys(shared, "machine")
    return causes | dict.fromkeys(_alternating(others), "alternation")


def _shared_by_most(history: History, suspected: Iterable[Change]) -> set[tuple[int, int]]:
    voters: dict[_Group, list[int]] = defaultdict(list)
    for index, series in enumerate(history.series):
        voters[_group(series)].append(index)
    together: dict[tuple[_Group, int], list[Change]] = defaultdict(list)
    for change in suspected:
        together[_group(history.series[change.series]), change.commit].append(change)
    shared: set[tuple[int, int]] = set()
    for (group, commit), changes in together.items():
        moves = list(_moves(history, voters[group], commit))
        shared |= {(change.series, commit) for change in changes if _is_shared(change, moves)}
    return shared


def _group(series: Series) -> _Group:
    """Return what votes together: the series of a metric."""
    return series.machine, series.environment, series.case.labels["metric"]


def _moves(history: History, voters: Iterable[int], commit: int) -> Iterator[tuple[str, float]]:
    """Yield the row of each series that votes, and the logarithm of its ratio at a commit."""
    for index in voters:
        series = history.series[index]
        columns = series.columns.valued
        first = int(np.searchsorted(history.indices(columns), commit))
        before = columns.values[max(0, first - LEVEL_VALUES) : first].tolist()
        after = columns.values[first : first + LEVEL_VALUES].tolist()
        if before and after and min(before + after) > 0:
            yield history.layout.row(series.case), math.log(median(after) / median(before))


def _alternating(suspected: Iterable[Change]) -> set[tuple[int, int]]:
    alternating: set[tuple[int, int]] = set()
    succession: list[Change] = []
    for change in sorted(suspected, key=lambda change: (change.series, change.commit)):
        if succession and not _takes_back(change, succession[-1]):
            succession = []
        succession.append(change)
        if len(succession) >= FEWEST_ALTERNATIONS:
            alternating |= {(change.series, change.commit) for change in succession}
    return alternating


def _takes_back(change: Change, earlier: Change) -> bool:
    sizes = _size(change), _size(earlier)
    largest = max(map(abs, sizes))
    return change.series == earlier.series and abs(sum(sizes)) <= _SAME_SIZE * largest


def _size(change: Change) -> float:
    """Return the logarithm of the ratio, which every suspicion has."""
    return math.log(change.ratio or 1.0)


def _is_shared(change: Change, moves: Sequence[tuple[str, float]]) -> bool:
    size = _size(change)
    least = max(math.log1p(MINIMUM_EFFECT), LEAST_SIZE * abs(size))
    agreeing = [row for row, move in moves if math.copysign(1, size) * move >= least]
    return (
        len(agreeing) >= max(FEWEST_SERIES, SHARE * len(moves))
        and len(set(agreeing)) >= FEWEST_ROWS
    )
