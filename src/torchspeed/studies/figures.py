"""Draws a sweep against its settings, and published values beside measured ones."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from pandas import DataFrame

from torchspeed.studies.measuring import Summary

if TYPE_CHECKING:
    from torchspeed.studies.measuring import MeasuredRow
    from torchspeed.studies.point import Outcome
    from torchspeed.studies.reproductions import Reproduction, Row
    from torchspeed.studies.sweep import Point

LOGARITHMIC = ("batch", "batch_size", "rate")
"""Settings whose values are usually multiples of each other."""


def draw_sweep(outcomes: Iterable[tuple[Point, Outcome]], folder: Path) -> list[Path]:
    """Draw epoch time and time to accuracy against each setting with several values.

    dl-benchmark has these figures. Failed points are left out, and so are points without a time to
    accuracy from its panel; a line joins the points that share all other settings.

    Returns:
        The files written, SVG.
    """
    done = [(point, outcome.result) for point, outcome in outcomes if outcome.result is not None]
    rows = DataFrame(point for point, _ in done)
    measures = {
        "mean time of an epoch, s": [
            fmean(epoch["wall_s"] for epoch in result["epochs"]) for _, result in done
        ],
        "time to accuracy, s": [
            result["time_to_accuracy"]["seconds_to_target"] for _, result in done
        ],
    }
    files = []
    for axis in rows:
        if rows[axis].nunique() < 2:
            continue
        others = [
            ", ".join(f"{n} {v}" for n, v in point.items() if n != axis) for point, _ in done
        ]
        lines = rows.assign(**measures, others=others).dropna(subset=axis)
        figure = Figure(figsize=(9, 4), layout="constrained")
        for panel, label in zip(figure.subplots(1, 2), measures, strict=True):
            table = lines.pivot(index=axis, columns="others", values=label).astype(float)
            _lines(panel, table.dropna(axis="columns", how="all"))
            panel.set_ylabel(label)
            if table.isna().all(axis=None):
                panel.text(0.5, 0.5, "target not reached, or none given", ha="center",
                           transform=panel.transAxes)  # fmt: skip
        _legend_below(figure, figure.axes)
        config = done[0][1]["config"]
        figure.suptitle(f"{config['model']} on {config['data']}")
        files.append(folder / f"against_{axis}.svg")
        figure.savefig(files[-1])
    return files


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
    """Name the lines of some panels once, below them, where it hides nothing."""
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
) -> None:
    """Draw a mark for each value, with its quartiles, and lines over a numeric axis.

    Seconds of categories have a logarithmic scale where one is ten times another or more, such as
    a Jetson's beside a server's; on it the length of a bar would mean nothing, so marks are drawn.
    """
    if not shown:
        panel.set_axis_off()
        panel.text(0.5, 0.5, "not published", ha="center", transform=panel.transAxes)
        return
    positions = list(dict.fromkeys(x for _, x, _ in shown))
    for name in dict.fromkeys(name for name, *_ in shown):
        own = [(x if joined else positions.index(x), s) for n, x, s in shown if n == name]
        own.sort(key=lambda pair: float(pair[0]))
        medians = [summary.median for _, summary in own]
        spread = [[s.median - s.low for _, s in own], [s.high - s.median for _, s in own]]
        panel.errorbar(
            [float(x) for x, _ in own], medians, spread, marker="o", capsize=3, label=name,
            linestyle="-" if joined else "none",
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
    measured = [name for name in quantities if any(name in row for row in rows)]
    table = DataFrame(rows, columns=measured, index=[name for name, *_ in shown])
    table.plot.barh(ax=panel, stacked=True, width=min(0.8, 0.1 * len(table) + 0.1), legend=False)
    panel.set_xlim(0, 1.05 * table.sum(axis="columns").max())
    panel.tick_params(axis="y", labelsize="x-small")
    panel.invert_yaxis()
    panel.set_xlabel("seconds")
    panel.set_ylabel("")


def _lines(panel: Axes, table: DataFrame) -> None:
    """Draw each column of a table against its index, with a tick at each value."""
    for name, values in table.items():
        present = values.dropna()
        panel.plot(present.index, present, marker="o", label=name)
    axis = table.index.name
    if axis in LOGARITHMIC:
        panel.set_xscale("log", base=2 if axis.startswith("batch") else 10)
    if table.index.dtype.kind in "if":
        panel.set_xticks(table.index, [f"{x:g}" for x in table.index])
    panel.minorticks_off()
    panel.set_xlabel(axis.replace("_", " "))
    panel.margins(y=0.1)
    panel.set_ylim(bottom=0)
