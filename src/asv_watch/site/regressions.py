"""The lasting regressions as ``regressions.json``, in the shape that asv gives this file.

Programs that read asv's file read this one as well. Only measured changes count, and only while
the product of the ratios since then says that the case is still slower by `MINIMUM_EFFECT`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from asv_watch.judge.changes import Change
from asv_watch.site import names
from asv_watch.site.contents import Contents, SeriesSummary
from asv_watch.statistics.rule import MINIMUM_EFFECT


@dataclass(frozen=True, slots=True)
class Regression:
    """The measured regressions of one series that still last."""

    series: SeriesSummary
    changes: tuple[Change, ...]
    """Oldest first."""

    @property
    def best(self) -> float:
        """Value before the first of the changes, in the benchmark's unit, as it was compared."""
        return self.changes[0].values[0]

    @property
    def latest(self) -> float:
        """Value after the last of them."""
        return self.changes[-1].values[1]


def lasting_regressions(contents: Contents) -> tuple[Regression, ...]:
    """Return every series with a regression that lasts, in the order of the site."""
    measured: dict[int, list[Change]] = {}
    for change in reversed(contents.changes):
        if change.is_measured:
            measured.setdefault(change.series, []).append(change)
    return tuple(
        Regression(contents.series[index], lasting)
        for index, changes in sorted(measured.items())
        if (lasting := tuple(c for c in changes if c.verdict == "worse" and _lasts(c, changes)))
    )


def _lasts(change: Change, changes: list[Change]) -> bool:
    """Tell whether no later change of the series undid one."""
    since = [other.ratio for other in changes if other.commit >= change.commit and other.ratio]
    slower = [prod(since[: end + 1]) for end in range(len(since))]
    return all(ratio >= 1 + MINIMUM_EFFECT for ratio in slower)


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
        jumps.append([None if after - before == 1 else before, after, *change.values])
    return [
        case.name,
        f"data/s/{names.slug(row.benchmark.name)}.js",
        {"machine": row.series.machine, "environment": row.series.environment},
        index,
        regression.latest,
        regression.best,
        jumps,
    ]
