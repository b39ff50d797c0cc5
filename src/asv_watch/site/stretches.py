"""The line of a series: it moves only where a change was measured.

A series is cut into stretches at measured changes and at changes of conditions. Along a
stretch the level stays, and runs are dots around it: their median lies on the line, because
separate runs cannot show how two stretches differ.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from asv_watch.runs.noise import median_of
from asv_watch.site.contents import Contents, SeriesSummary
from asv_watch.site.scripts import Json, shortened

_WHOLE = 10_000
_FARTHEST = 1e9


@dataclass(frozen=True, slots=True)
class Stretch:
    """Commits of a series at one level."""

    first: int
    """Index of its first commit."""
    level: float
    """Relative to the newest level: 1.1 is 10 % above it."""
    scale: float
    """Factor that makes a value of the stretch relative to the newest level; 0 if no value is
    above 0."""


def stretches(contents: Contents, row: SeriesSummary) -> list[Stretch]:
    """Cut a series with a value into stretches, oldest first."""
    levels = _levels(row)
    segments = contents.findings.segments[row.index]
    starts = sorted({*(first for first, _ in levels), *(int(s.commits[0]) for s in segments)})
    values = row.series.columns.valued.values
    bounds = [*np.searchsorted(row.commits, starts).tolist(), len(values)]
    cut = []
    for first, begin, end in zip(starts, bounds, bounds[1:], strict=False):
        level = next(level for commit, level in reversed(levels) if commit <= first)
        positive = values[begin:end][values[begin:end] > 0]
        scale = level / median_of(positive) if len(positive) else 0.0
        cut.append(Stretch(first, level, scale))
    return cut


def _levels(row: SeriesSummary) -> list[tuple[int, float]]:
    """Return the first commit of each level and the level, oldest first."""
    newest_first = sorted(
        ((change.commit, change.ratio) for change in row.measured if change.ratio), reverse=True
    )
    level, levels = 1.0, []
    for commit, ratio in newest_first:
        levels.append((commit, level))
        level /= ratio
    first = min(int(row.commits[0]), *(commit - 1 for commit, _ in levels), int(row.commits[-1]))
    return [(first, level), *reversed(levels)]


def stretch_data(contents: Contents, row: SeriesSummary) -> list[list[float]]:
    """Return the stretches as a data file holds them."""
    return [
        [stretch.first, shortened(stretch.level), shortened(stretch.scale)]
        for stretch in stretches(contents, row)
    ]


def small_line(contents: Contents, row: SeriesSummary, shown: Sequence[int]) -> Json:
    """Return the small line chart beside a value, over some commits.

    Args:
        contents: What the site shows.
        row: The series.
        shown: Indices of the commits, oldest first.

    Returns:
        ``steps``: positions in ``shown`` where the level changes, and the level from there on, in
        1/10,000 of the newest; ``runs``: a value, or null, for each commit, in the same unit.
    """
    if not row.has_value or not shown:
        return {"steps": [[0, _WHOLE]], "runs": [None] * len(shown)}
    series_stretches = stretches(contents, row)
    firsts = [stretch.first for stretch in series_stretches]
    recent = slice(int(np.searchsorted(row.commits, shown[0])), None)
    newest = row.commits[recent].tolist(), row.series.columns.valued.values[recent].tolist()
    values: dict[int, float] = dict(zip(*newest, strict=True))
    steps: list[list[int]] = []
    runs: list[int | None] = []
    for position, commit in enumerate(shown):
        stretch = series_stretches[max(0, bisect_right(firsts, commit) - 1)]
        level = round(min(stretch.level * _WHOLE, _FARTHEST))
        if not steps or steps[-1][1] != level:
            steps.append([position, level])
        value = values.get(commit, 0.0)
        runs.append(round(min(value * stretch.scale * _WHOLE, _FARTHEST)) if value > 0 else None)
    return {"steps": steps, "runs": runs}
