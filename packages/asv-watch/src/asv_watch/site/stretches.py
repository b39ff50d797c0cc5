"""The line of a series: it moves only where a change was measured.

A series is cut into stretches at measured changes and at changes of conditions. Along a
stretch the level stays, and runs are dots around it: their median lies on the line, because
separate runs cannot show how two stretches differ.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from asv_watch.judge.changes import Change
from asv_watch.judge.segments import Segment
from asv_watch.records.history import Floats, Indices
from asv_watch.site.scripts import shortened


class Stretch(msgspec.Struct, frozen=True):
    """Commits of a series at one level."""

    first: int
    """Index of its first commit."""
    level: float
    """Relative to the newest level: 1.1 is 10 % above it."""
    scale: float
    """Factor that makes a value of the stretch relative to the newest level; 0 if no value is
    above 0."""


def stretches_of(
    commits: Indices,
    values: Floats,
    measured: Sequence[Change],
    segments: Sequence[Segment],
) -> tuple[Stretch, ...]:
    """Cut a series into stretches, oldest first; without a value it has none.

    Args:
        commits: Commit index of each value, oldest first.
        values: In the unit of the series.
        measured: Its measured changes.
        segments: Its segments.
    """
    if not len(commits):
        return ()
    levels = _levels(commits, measured)
    starts = sorted({*(first for first, _ in levels), *(int(s.commits[0]) for s in segments)})
    bounds = [*np.searchsorted(commits, starts).tolist(), len(values)]
    cut = []
    for first, begin, end in zip(starts, bounds, bounds[1:], strict=False):
        level = next(level for commit, level in reversed(levels) if commit <= first)
        positive = values[begin:end][values[begin:end] > 0]
        scale = level / float(np.median(positive)) if len(positive) else 0.0
        cut.append(Stretch(first, level, scale))
    return tuple(cut)


def _levels(commits: Indices, measured: Sequence[Change]) -> list[tuple[int, float]]:
    newest_first = sorted(
        ((change.commit, change.ratio) for change in measured if change.ratio), reverse=True
    )
    level, levels = 1.0, []
    for commit, ratio in newest_first:
        levels.append((commit, level))
        level /= ratio
    first = min(int(commits[0]), *(commit - 1 for commit, _ in levels), int(commits[-1]))
    return [(first, level), *reversed(levels)]


def stretch_data(stretches: Sequence[Stretch]) -> list[list[float]]:
    """Return the stretches as a data file holds them."""
    return [
        [stretch.first, shortened(stretch.level), shortened(stretch.scale)]
        for stretch in stretches
    ]
