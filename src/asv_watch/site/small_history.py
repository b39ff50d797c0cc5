"""The small line beside a newest value: it moves only where a change was measured.

Runs are dots around it. Within a stretch without a measured change and under the same conditions
their median lies on the line, because separate runs say nothing about steps between stretches.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from asv_watch.site.change_data import made_between
from asv_watch.site.contents import Contents, SeriesSummary
from asv_watch.site.scripts import Json

_WHOLE = 10_000
"""The newest level."""
_FARTHEST = 1e9


def small_history(contents: Contents, row: SeriesSummary, shown: Sequence[int]) -> Json:
    """Return steps and runs of a series over some commits.

    Args:
        contents: What the site shows.
        row: The series.
        shown: Indices of the commits, oldest first: a place each.

    Returns:
        ``steps``: places where the level changes, and the level from there on, in 1/10,000 of
        the newest; ``runs``: a value, or null, for each commit, in the same unit.
    """
    steps = _steps(contents, row, shown)
    values = dict(
        zip(row.commits.tolist(), row.series.columns.valued.values.tolist(), strict=True)
    )
    runs: list[int | None] = [None] * len(shown)
    starts = [bisect_left(shown, int(s.commits[0])) for s in contents.findings.segments[row.index]]
    bounds = sorted({0, len(shown), *(place for place, _ in steps), *starts})
    for first, last in pairwise(bounds):
        level = next(level for place, level in reversed(steps) if place <= first)
        known = [values[commit] for commit in shown[first:last] if values.get(commit, 0) > 0]
        for place in range(first, last):
            value = values.get(shown[place], 0)
            if value > 0:
                runs[place] = round(min(level * (value / median(known)), _FARTHEST))
    return {"steps": [[place, round(level)] for place, level in steps], "runs": runs}


def _steps(
    contents: Contents, row: SeriesSummary, shown: Sequence[int]
) -> list[tuple[int, float]]:
    """Return the first place of each level and the level, oldest first."""
    order = contents.history.order
    newest_first = sorted(
        (
            (order.get(made_between(change, contents)[1], change.commit), change.ratio)
            for change in row.measured
            if change.ratio
        ),
        reverse=True,
    )
    level = float(_WHOLE)
    steps = []
    for commit, ratio in newest_first:
        place = bisect_right(shown, commit - 1)
        if 0 < place < len(shown):
            steps.append((place, level))
            level /= ratio
    return [(0, level), *reversed(steps)]
