"""Suspicions: changes that separate runs hint at, in series that nobody compared.

asv's own step detection raises them (`asv_watch.asv.steps`). They claim nothing: a night compares
the two commits.

Step detection of 200 values takes 10 ms. So it looks at windows of so many values. A run that is
added changes the newest window alone, and that only if one of the newest values lies outside the
range of those before. Levels of windows that did not change are known.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from asv_watch.asv.steps import Level, Levels
from asv_watch.records.history import Floats
from asv_watch.runs.segments import Segment
from asv_watch.statistics.rule import MINIMUM_EFFECT

WINDOW = 200
"""Largest number of values in a window."""
NEWEST = 5
"""One of so many newest values must lie outside the range of those before them."""
_OVERLAP = 50
"""Values that two neighbouring windows share; a step among them is taken from the window whose end
is farther away."""


def find_suspicions(
    segments: Sequence[Segment], levels: Levels
) -> Iterator[tuple[tuple[int, int], tuple[float, float]]]:
    """Yield the suspicions of a series, oldest first.

    Each has the indices of the last commit measured before it and of the first one after it, and
    the levels before and after, in the unit of the series.

    Args:
        segments: The series' segments, oldest first.
        levels: Finds the levels of values.
    """
    for segment in segments:
        commits: list[int] = segment.commits.tolist()
        for before, after in _steps(segment.values, levels):
            low, high = sorted((before.value, after.value))
            if low > 0 and math.log(high / low) >= math.log1p(MINIMUM_EFFECT):
                ends = commits[before.end - 1], commits[after.first]
                yield ends, (before.value, after.value)


def _steps(values: Floats, levels: Levels) -> Iterator[tuple[Level, Level]]:
    """Yield neighbouring levels; a level of a single value is a spike, unless it is the newest."""
    values = values[: _last_look(values)]
    for start in range(0, max(1, len(values) - _OVERLAP), WINDOW - _OVERLAP):
        window = values[start : start + WINDOW]
        first = start + _OVERLAP // 2 if start else 0
        end = start + WINDOW
        if end < len(values):
            end -= _OVERLAP // 2
        lasting = [
            Level(start + level.first, start + level.end, level.value)
            for level in levels.find(window)
            if level.end - level.first > 1 or level.end == len(window)
        ]
        yield from (
            (before, after) for before, after in pairwise(lasting) if first <= after.first < end
        )


def _last_look(values: Floats) -> int:
    """Return how many values there were when the `NEWEST` last left the range of those before.

    Only the last `WINDOW` values count.
    """
    newest = values[-WINDOW:]
    extreme = max(int(newest.argmin()), int(newest.argmax()))
    return min(len(values) - len(newest) + extreme + NEWEST, len(values))
