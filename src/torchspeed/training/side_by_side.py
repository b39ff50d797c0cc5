"""One picture of published values beside those measured here, on the same axes' labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from torchspeed.training.figures import draw_lines
from torchspeed.training.reproductions import Reproduction, Row


def draw_side_by_side(reproduction: Reproduction, rows: list[Row], file: Path) -> None:
    """Draw the published values on the left, if there are any, and ours on the right.

    The scales differ: hardware and amount of work do.

    Args:
        reproduction: what was measured.
        rows: its numbers.
        file: of the picture; its ending is the format.

    Raises:
        OSError: the file cannot be written.
    """
    sides = {"published": reproduction.published(), "here": rows}
    sides = {side: shown for side, shown in sides.items() if shown}
    quantities = [None] if reproduction.drawn_as == "stack" else list(reproduction.quantities)
    height = 0.4 * max(len(shown) for shown in sides.values()) + 1.5
    figure = Figure(
        figsize=(
            4.5 * len(sides),
            height if reproduction.drawn_as == "stack" else 2.4 * len(quantities),
        ),
        layout="constrained",
    )
    panels = figure.subplots(len(quantities), len(sides), squeeze=False)
    for column, (side, shown) in enumerate(sides.items()):
        panels[0][column].set_title(side)
        for line, quantity in enumerate(quantities):
            panel = panels[line][column]
            if quantity is None:
                _stack(panel, shown, list(reproduction.quantities))
            else:
                _by_axis(panel, reproduction, shown, quantity)
    figure.suptitle(reproduction.title)
    figure.savefig(file, dpi=80)


def _by_axis(panel: Axes, reproduction: Reproduction, rows: list[Row], quantity: str) -> None:
    lines: dict[str, list[tuple[Any, float]]] = {}
    for row in rows:
        if quantity in row.values:
            lines.setdefault(row.name, []).append((row.x, row.values[quantity]))
    unit = reproduction.quantities[quantity]
    panel.set_ylabel(f"{quantity}, {unit}" if unit else quantity, fontsize="small")
    if reproduction.drawn_as == "lines":
        draw_lines(panel, {"batch": "batch_size"}.get(reproduction.axis, reproduction.axis), lines)
        if unit == "%":
            panel.set_ylim(0, 105)
        return
    categories = list(dict.fromkeys(x for line in lines.values() for x, _ in line))
    width = 0.8 / len(lines)
    for place, (name, line) in enumerate(lines.items()):
        positions = [categories.index(x) + width * (place + 0.5) - 0.4 for x, _ in line]
        panel.bar(positions, [y for _, y in line], width, label=name)
    panel.set_xticks(range(len(categories)), categories)
    panel.set_xlabel(reproduction.axis)
    if unit == "s":
        panel.set_yscale("log")  # a Jetson's and a server's seconds in one picture
        panel.set_ylim(bottom=min(y for line in lines.values() for _, y in line) / 10)
    panel.set_ylim(top=panel.get_ylim()[1] * (10 if unit == "s" else 1.3))  # room for the legend
    panel.legend(fontsize="x-small")


def _stack(panel: Axes, rows: list[Row], quantities: list[str]) -> None:
    names = [row.name for row in rows]
    ends = [0.0] * len(rows)
    for quantity in quantities:
        seconds = [row.values.get(quantity, 0.0) for row in rows]
        bars = panel.barh(names, seconds, height=min(0.8, 0.1 * len(rows) + 0.1), left=ends)
        if any(seconds):
            bars.set_label(quantity)
        ends = [end + more for end, more in zip(ends, seconds, strict=True)]
    panel.tick_params(axis="y", labelsize="x-small")
    panel.set_ylim(len(rows) + 1.0, -0.8)  # room for the legend
    panel.set_xlabel("seconds")
    panel.legend(fontsize="x-small", ncols=2, loc="lower right")
