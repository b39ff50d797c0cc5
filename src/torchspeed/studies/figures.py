"""Draws a sweep against its settings, and published values beside measured ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

if TYPE_CHECKING:
    from torchspeed.studies.reproductions import Point as MeasuredPoint
    from torchspeed.studies.reproductions import Reproduction, Row, Values
    from torchspeed.studies.sweep import Outcome, Point


@dataclass(frozen=True, slots=True)
class Summary:
    """Median and quartiles of a quantity over the rounds, in its unit."""

    median: float
    low: float
    """The lower quartile."""
    high: float
    """The upper quartile."""
    rounds: int

    @property
    def iqr(self) -> float:
        """The distance between the quartiles, in the unit of the quantity."""
        return self.high - self.low


MeasuredRow = tuple[str, float | str, dict[str, Summary]]
"""A name, a value of the axis, and the summary of each quantity by its name."""


def summarise(measured: Iterable[tuple[MeasuredPoint, Values]]) -> list[MeasuredRow]:
    """Return a summary of measurements for each name and value of the axis."""
    numbers: dict[tuple[str, float | str], dict[str, list[float]]] = {}
    for point, values in measured:
        for name, quantities in values.items():
            row = numbers.setdefault((name, point.x), {})
            for quantity, value in quantities.items():
                row.setdefault(quantity, []).append(value)
    return [
        (name, x, {quantity: _summary(values) for quantity, values in row.items()})
        for (name, x), row in numbers.items()
    ]


def _summary(values: list[float]) -> Summary:
    low, median, high = np.percentile(values, (25, 50, 75)).tolist()
    return Summary(median, low, high, len(values))


LOGARITHMIC = ("batch", "batch_size", "rate")
"""Settings whose values are usually multiples of each other."""

SWEEP_TIMES: tuple[tuple[str, Callable[[dict[str, Any]], float | None]], ...] = (
    (
        "mean time of an epoch, s",
        lambda result: fmean(epoch["wall_s"] for epoch in result["epochs"]),
    ),
    ("time to accuracy, s", lambda result: result["time_to_accuracy"]["seconds_to_target"]),
)
"""Times of a training that a sweep draws, each with its title."""


def draw_sweep(outcomes: Iterable[tuple[Point, Outcome]], folder: Path) -> list[Path]:
    """Draw epoch time and time to accuracy against each setting with several values.

    dl-benchmark has these figures. Failed points are left out; the panel of time to accuracy also
    leaves out points without one. A line joins the points that share all other settings.

    Returns:
        The files written, SVG.
    """
    done = [(point, outcome.result) for point, outcome in outcomes if outcome.result is not None]
    files = []
    for axis in dict.fromkeys(name for point, _ in done for name in point):
        points = [(point, result) for point, result in done if axis in point]
        values = {point[axis] for point, _ in points}
        if len(values) < 2:
            continue
        lines = dict.fromkeys(_others(point, axis) for point, _ in points)
        figure = Figure(figsize=(9, 4), layout="constrained")
        for panel, (title, seconds_of) in zip(figure.subplots(1, 2), SWEEP_TIMES, strict=True):
            shown = [
                (_others(point, axis), point[axis], _single(seconds))
                for point, result in points
                if (seconds := seconds_of(result)) is not None
            ]
            joined = not any(isinstance(value, str) for value in values)
            absent = "target not reached, or none given"
            _marks(panel, shown, axis, joined=joined, unit="s", absent=absent, lines=lines)
            panel.set_title(title, fontsize="small")
        _legend_below(figure, figure.axes)
        config = done[0][1]["config"]
        figure.suptitle(f"{config['model']} on {config['data']}")
        files.append(folder / f"against_{axis}.svg")
        figure.savefig(files[-1])
    return files


def _others(point: Point, axis: str) -> str:
    """Name the line of a point: the settings that it shares with all points of the line."""
    return ", ".join(f"{name} {value}" for name, value in point.items() if name != axis)


def draw_side_by_side(
    reproduction: Reproduction, published: list[Row], rows: list[MeasuredRow], file: Path
) -> None:
    """Draw the published values on the left and ours, if there are any, on the right.

    The scales differ, because hardware and amount of work do. Error bars are our quartiles.
    """
    axis, quantities = reproduction.axis, reproduction.quantities
    sides = {
        "published": [
            (row["name"], row[axis], {q: _single(row[q]) for q in quantities if q in row})
            for row in published
        ],
        "here": rows,
    }  # fmt: skip
    sides = {side: shown for side, shown in sides.items() if shown}
    stacked = reproduction.drawn_as == "stack"
    lines = 1 if stacked else len(quantities)
    names = max(len({name for name, *_ in shown}) for shown in sides.values())
    height = 0.4 * max(map(len, sides.values())) + 1.8 if stacked else 2.2 * lines + 0.3 * names
    figure = Figure(figsize=(5 * len(sides), height), layout="constrained")
    for part, (side, shown) in zip(
        figure.subfigures(1, len(sides), squeeze=False)[0], sides.items(), strict=True
    ):
        part.suptitle(side, fontsize="medium")
        panels = part.subplots(lines, 1, squeeze=False)[:, 0]
        if stacked:
            _stack(panels[0], shown, list(quantities))
        else:
            for panel, (quantity, unit) in zip(panels, quantities.items(), strict=True):
                chosen = [(name, x, s[quantity]) for name, x, s in shown if quantity in s]
                _marks(panel, chosen, axis, joined=reproduction.drawn_as == "lines", unit=unit)
                panel.set_title(f"{quantity}, {unit}" if unit else quantity, fontsize="small")
        _legend_below(part, panels)
    figure.suptitle(reproduction.title)
    figure.savefig(file, dpi=80)


def _legend_below(figure: Figure | SubFigure, panels: Iterable[Axes]) -> None:
    entries: dict[str, Any] = {}
    for panel in panels:
        handles, labels = panel.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    if len(entries) > 1:
        figure.legend(
            entries.values(), entries.keys(), loc="outside lower center", fontsize="x-small"
        )


def _single(value: float) -> Summary:
    return Summary(value, value, value, 1)


def _marks(
    panel: Axes,
    shown: list[tuple[str, float | str, Summary]],
    axis: str,
    *,
    joined: bool,
    unit: str,
    absent: str = "not published",
    lines: Iterable[str] = (),
) -> None:
    """Draw a mark for each value, with its quartiles, and lines over a numeric axis.

    Seconds of categories have a logarithmic scale where one is ten times another or more, such as
    a Jetson's beside a server's; on it the length of a bar would mean nothing, so marks are drawn.
    Colours follow the order of ``lines``, so that several panels agree.
    """
    if not shown:
        panel.set_axis_off()
        panel.text(0.5, 0.5, absent, ha="center", transform=panel.transAxes)
        return
    positions = list(dict.fromkeys(x for _, x, _ in shown))
    for index, name in enumerate(dict.fromkeys([*lines, *(name for name, *_ in shown)])):
        own = [(x if joined else positions.index(x), s) for n, x, s in shown if n == name]
        own.sort(key=lambda pair: float(pair[0]))
        medians = [summary.median for _, summary in own]
        spread = [[s.median - s.low for _, s in own], [s.high - s.median for _, s in own]]
        panel.errorbar(
            [float(x) for x, _ in own], medians, spread, marker="o", capsize=3, label=name,
            color=f"C{index}", linestyle="-" if joined else "none",
        )  # fmt: skip
    if joined:
        numbers = sorted(float(x) for x in positions)
        if axis in LOGARITHMIC:
            panel.set_xscale("log", base=2 if axis.startswith("batch") else 10)
        panel.set_xticks(numbers, [f"{x:g}" for x in numbers])
    else:
        panel.set_xticks(
            range(len(positions)),
            [str(x).replace(" / ", " /\n") for x in positions],
            fontsize="x-small",
        )
        panel.margins(x=0.2)
    panel.minorticks_off()
    panel.set_xlabel(axis.replace("_", " "), fontsize="small")
    panel.margins(y=0.15)
    medians = [summary.median for *_, summary in shown]
    if unit == "s" and not joined and max(medians) >= 10 * min(medians):
        panel.set_yscale("log")
    else:
        panel.set_ylim(0, 1.08 * max(summary.high for *_, summary in shown) or 1)


def _stack(panel: Axes, shown: list[MeasuredRow], quantities: list[str]) -> None:
    """Draw a stacked bar of seconds for each row, from the top."""
    rows = [
        {name: summary.median for name, summary in summaries.items() if name in quantities}
        for *_, summaries in shown
    ]
    ends = [0.0] * len(rows)
    for name in quantities:
        if any(name in row for row in rows):
            seconds = [row.get(name, 0.0) for row in rows]
            height = min(0.8, 0.1 * len(rows) + 0.1)
            panel.barh(range(len(rows)), seconds, height, ends, label=name)
            ends = [end + more for end, more in zip(ends, seconds, strict=True)]
    panel.set_xlim(0, 1.05 * max(ends))
    panel.set_yticks(range(len(rows)), [name for name, *_ in shown], fontsize="x-small")
    panel.set_ylim(len(rows) - 0.5, -0.5)
    panel.set_xlabel("seconds")
