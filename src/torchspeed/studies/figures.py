"""Pictures: a sweep against its settings, and published values beside measured ones."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

if TYPE_CHECKING:
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
        config = done[0][1]["config"]
        figure.suptitle(f"{config['model']} on {config['data']}")
        files.append(folder / f"against_{axis}.svg")
        figure.savefig(files[-1])
    return files


def draw_side_by_side(reproduction: Reproduction, rows: list[Row], file: Path) -> None:
    """Draw the published values on the left, if there are any, and ours on the right.

    The scales differ: hardware and amount of work do.
    """
    published, quantities = reproduction.published(), reproduction.quantities
    sides = {"published": published, "here": rows} if published else {"here": rows}
    stacked = reproduction.drawn_as == "stack"
    lines = 1 if stacked else len(quantities)
    height = 0.4 * max(map(len, sides.values())) + 1.5 if stacked else 2.4 * lines
    figure = Figure(figsize=(4.5 * len(sides), height), layout="constrained")
    panels = figure.subplots(lines, len(sides), squeeze=False)
    for column, (side, shown) in zip(panels.T, sides.items(), strict=True):
        column[0].set_title(side)
        table = DataFrame(shown).set_index("name")
        if stacked:
            _stack(column[0], table.reindex(columns=[*quantities]))
            continue
        for panel, (quantity, unit) in zip(column, quantities.items(), strict=True):
            numbers = table.pivot_table(quantity, reproduction.axis, "name", sort=False)
            if reproduction.drawn_as == "lines":
                _lines(panel, numbers.sort_index())
            else:
                _bars(panel, numbers, unit)
            panel.set_ylabel(f"{quantity}, {unit}" if unit else quantity, fontsize="small")
    figure.suptitle(reproduction.title)
    figure.savefig(file, dpi=80)


def _lines(panel: Axes, table: DataFrame) -> None:
    """Draw each column of a table against its index, with a tick at each value."""
    for name, values in table.items():
        present = values.dropna()
        panel.plot(present.index, present, marker="o", label=name)
    axis = table.index.name
    if axis in LOGARITHMIC:
        panel.set_xscale("log")
    if table.index.dtype.kind in "if":
        panel.set_xticks(table.index, [f"{x:g}" for x in table.index])
    panel.minorticks_off()
    panel.set_xlabel(axis.replace("_", " "))
    panel.margins(y=0.1)
    panel.set_ylim(bottom=0)
    if len(table.columns) > 1:
        panel.legend(fontsize="small")


def _bars(panel: Axes, table: DataFrame, unit: str) -> None:
    """Draw a group of bars for each row of a table; seconds on a logarithmic scale.

    A Jetson's and a server's seconds are in one picture.
    """
    in_seconds = unit == "s"
    table.index = table.index.map(lambda label: label.replace(" / ", " /\n"))
    table.plot.bar(ax=panel, rot=0, width=0.8, logy=in_seconds)
    if in_seconds:
        panel.set_ylim(bottom=table.min(axis=None) / 10)
    panel.set_ylim(top=panel.get_ylim()[1] * (10 if in_seconds else 1.3))  # room for the legend
    panel.legend(fontsize="x-small")


def _stack(panel: Axes, table: DataFrame) -> None:
    """Draw a stacked bar for each row of a table."""
    table.plot.barh(ax=panel, stacked=True, width=min(0.8, 0.1 * len(table) + 0.1))
    panel.tick_params(axis="y", labelsize="x-small")
    panel.set_ylim(len(table) + 1.0, -0.8)  # from the top, with room for the legend
    panel.set_xlabel("seconds")
    panel.set_ylabel("")
    panel.legend(fontsize="x-small", ncols=2, loc="lower right")
