"""The lasting regressions as ``regressions.json``, in the shape that asv gives this file.

Programs that read asv's file read this one as well. Only confirmed changes count, and only
those whose series has not come back since to the value that it had before. What was measured
under other conditions than the newest value is not compared with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from asv_watch.judge.changes import Change, State
from asv_watch.site import names
from asv_watch.site.contents import Contents, SeriesSummary


@dataclass(frozen=True, slots=True)
class Regression:
    """The confirmed regressions of one series that still last."""

    series: SeriesSummary
    best: float
    """Best level before the newest of the changes, in the benchmark's unit."""
    latest: float
    """Level of today."""
    changes: tuple[Change, ...]
    """Oldest first."""


def lasting_regressions(contents: Contents) -> tuple[Regression, ...]:
    """Return every series that is worse than it was, in the order of the site."""
    worse: dict[int, list[Change]] = {}
    for change in reversed(contents.changes):
        if change.verdict == "worse" and change.state is State.CONFIRMED:
            worse.setdefault(change.series, []).append(change)
    regressions = []
    for index, changes in sorted(worse.items()):
        row = contents.series[index]
        sign = -1.0 if row.metric.higher_is_better else 1.0
        lasting = [
            change
            for change in changes
            if change.commit > row.comparable_from
            and all(
                sign * level.value > sign * change.before
                for level in row.levels
                if level.first >= change.commit
            )
        ]
        if lasting:
            levels = [
                level.value
                for level in row.levels
                if row.comparable_from <= level.first < lasting[-1].commit
            ]
            best = min(levels, key=lambda value: sign * value)
            regressions.append(Regression(row, best, row.levels[-1].value, tuple(lasting)))
    return tuple(regressions)


def regressions_data(contents: Contents, regressions: tuple[Regression, ...]) -> dict[str, Any]:
    """Return what ``regressions.json`` holds: a row for each series.

    A row is, as in asv's file: case, path of the file with its values, the machine
    and environment of the series, index of its parameters in their cartesian product
    (``None`` for a benchmark without any), latest level, best level, and for each regression
    the revision before it (``None`` where the commit follows on it directly), its first
    revision, and the levels before and after. A revision is the number of commits before it,
    the last entry of a commit in ``index.json``.
    """
    return {"regressions": [_row(contents, regression) for regression in regressions]}


def _row(contents: Contents, regression: Regression) -> list[Any]:
    row = regression.series
    case, params = row.series.case, row.benchmark.params
    index = None
    if case.params:
        index = 0
        for value, values in zip(case.params, params, strict=True):
            index = index * len(values) + values.index(value)
    revisions = [commit.position for commit in contents.history.commits]
    jumps = []
    for change in regression.changes:
        before, after = revisions[change.previous], revisions[change.commit]
        jumps.append([None if after - before == 1 else before, after, change.before, change.after])
    return [
        case.name,
        f"data/s/{names.slug(row.benchmark.name)}.js",
        {"machine": row.series.machine, "environment": row.series.environment},
        index,
        regression.latest,
        regression.best,
        jumps,
    ]
