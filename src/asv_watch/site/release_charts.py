"""Small charts of a model's time over all torch releases, as coordinates for inline SVG."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from asv_watch.judge.release_history import RelativeTime
from asv_watch.site.releases import ReleaseTable

WIDTH, HEIGHT = 320, 150
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 10, 24
_RATIOS = (0.2, 0.33, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 3.0, 5.0)
"""Possible ticks of the vertical axis."""
_MOST_TICKS = 6
_FEWEST_DOTS = 3
"""A line between two releases would say no more than the tables."""
_BESIDE = 4.0
"""Distance of the lines of a chart, so that their intervals do not cover each other."""
_LEAST_SPAN = math.log(1.2)

Tick = tuple[float, str]
"""Place in the drawing, and text."""


@dataclass(frozen=True, slots=True)
class Dot:
    """Time in one release over that in the newest, in the units of the drawing."""

    x: float
    y: float
    low: float
    high: float
    time: RelativeTime


@dataclass(frozen=True, slots=True)
class Line:
    """One case over the releases."""

    direction: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A model with its settings, and a line for each of its passes."""

    title: str
    hue: int
    """Place of the model among those of the site, by which its hue is chosen in every view."""
    lines: tuple[Line, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


def release_charts(
    table: ReleaseTable, releases: Sequence[str], models: Sequence[str]
) -> tuple[Chart, ...]:
    """Draw a chart for each model of a table; all have the same logarithmic vertical axis.

    Args:
        table: Its rows with times in three releases are drawn.
        releases: Versions on the horizontal axis, oldest first.
        models: Models of the site, by whose places hues are chosen.
    """
    rows = [row for row in table.rows if len(row.times) >= _FEWEST_DOTS]
    ends = [math.log(end) for row in rows for time in row.times for end in time.interval]
    if not ends:
        return ()
    padding = max(0.0, _LEAST_SPAN - (max(ends) - min(ends))) / 2
    low, high = min(ends) - padding, max(ends) + padding
    step = (WIDTH - LEFT - RIGHT) / max(1, len(releases) - 1)
    place = {release: LEFT + step * at for at, release in enumerate(releases)}

    def height(ratio: float) -> float:
        return TOP + (high - math.log(ratio)) / (high - low) * (HEIGHT - TOP - BOTTOM)

    marks = [ratio for ratio in _RATIOS if low <= math.log(ratio) <= high]
    sparse = [ratio for at, ratio in enumerate(marks) if (at - marks.index(1.0)) % 2 == 0]
    y_ticks = tuple(
        (height(ratio), f"{ratio:g}×") for ratio in (marks if len(marks) < _MOST_TICKS else sparse)
    )
    stride = math.ceil(len(releases) / _MOST_TICKS)
    x_ticks = tuple(
        (place[release], ".".join(release.split(".")[:2])) for release in releases[::-stride]
    )
    lines: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for row in rows:
        of_chart = lines[row.title, row.model]
        beside = _BESIDE * len(of_chart)
        dots = tuple(
            Dot(
                place[time.release] - beside,
                height(time.ratio),
                height(time.interval[0]),
                height(time.interval[1]),
                time,
            )
            for time in row.times
        )
        of_chart.append(Line(row.direction, dots))
    hue_of = {model: place for place, model in enumerate(models)}
    return tuple(
        Chart(title, hue_of.get(model, 0), tuple(of_chart), x_ticks, y_ticks)
        for (title, model), of_chart in lines.items()
    )
