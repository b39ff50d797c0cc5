"""Draws a sweep against its settings, and published values beside measured ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from torchspeed.studies.sweep import Outcome, Point
    from torchspeed.training.results import RunResult


class Row(NamedTuple):
    """A point of a line, a bar, or a row of a table."""

    name: str
    x: float | str
    """Value of the axis."""
    rounds: dict[str, list[float]]
    """The numbers of all rounds by their quantity; a published number is alone."""
    slips: Sequence[str] = ()
    """What is known to be wrong with published numbers."""


LOGARITHMIC = ("batch", "batch_size", "rate")
"""Settings whose values are usually multiples of each other."""

LABELLED = 12
"""Most values of an axis that each have a label."""

SWEEP_TIMES: dict[str, Callable[[dict[str, Any]], float | None]] = {
    "mean time of an epoch": lambda result: fmean(epoch["wall_s"] for epoch in result["epochs"]),
    "time to accuracy": lambda result: result["time_to_accuracy"]["seconds_to_target"],
}
"""Seconds of a training that a sweep draws."""


def draw_sweep(outcomes: Iterable[tuple[Point, Outcome]], folder: Path) -> list[Path]:
    """Draw epoch time and time to accuracy against each setting with several values, as SVG files.

    dl-benchmark has these figures. Failed points are left out; the panel of time to accuracy also
    leaves out points without one. A line joins the points that share all other settings.
    """
    done = [(point, outcome) for point, outcome in outcomes if not isinstance(outcome, str)]
    files = []
    for axis in dict.fromkeys(name for point, _ in done for name in point):
        points = [(point, result) for point, result in done if axis in point]
        values = {point[axis] for point, _ in points}
        if len(values) < 2:
            continue
        rows = []
        for point, result in points:
            shared = ", ".join(f"{name} {value}" for name, value in point.items() if name != axis)
            times = {name: seconds_of(result) for name, seconds_of in SWEEP_TIMES.items()}
            known = {name: [seconds] for name, seconds in times.items() if seconds is not None}
            rows.append(Row(shared, point[axis], known))
        config = done[0][1]["config"]
        title = f"{config['model']} on {config['data']}"
        drawn_as = "bars" if any(isinstance(value, str) for value in values) else "lines"
        files.append(folder / f"against_{axis}.svg")
        draw(title, {"": rows}, axis, dict.fromkeys(SWEEP_TIMES, "s"), drawn_as, files[-1])
    return files


def draw_losses(result: RunResult, file: Path) -> None:
    """Draw the loss of each epoch of a training, in training and of the held-out items."""
    losses = [
        Row(name, epoch.number, {"loss": [loss]})
        for epoch in result.epochs
        for name, loss in (("training", epoch.train_loss), ("held out", epoch.held_out_loss))
    ]
    title = f"{result.config['model']} on {result.config['data']}"
    draw(title, {"": losses}, "epoch", {"loss": ""}, "lines", file)


def draw(
    title: str,
    sides: Mapping[str, Sequence[Row]],
    axis: str,
    quantities: dict[str, str],
    drawn_as: str,
    file: Path,
) -> None:
    """Draw a column for each side, with a panel for each quantity, or one of stacked bars.

    The scales of sides differ, because hardware and amount of work do. Error bars are quartiles.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - half a second, and not for what is timed

    panels_of_side = 1 if drawn_as == "stack" else len(quantities)
    names = max(len({row.name for row in shown}) for shown in sides.values())
    height = 2.2 * panels_of_side + 0.3 * names
    if drawn_as == "stack":
        height = 0.4 * max(map(len, sides.values())) + 1.8
    figure = Figure(figsize=(5 * len(sides), height), layout="constrained")
    parts = figure.subfigures(1, len(sides), squeeze=False)[0]
    for part, (side, shown) in zip(parts, sides.items(), strict=True):
        part.suptitle(side, fontsize="medium")
        panels = part.subplots(panels_of_side, 1, squeeze=False)[:, 0]
        if drawn_as == "stack":
            _stack(panels[0], shown, list(quantities))
        else:
            for panel, (quantity, unit) in zip(panels, quantities.items(), strict=True):
                _marks(panel, shown, axis, quantity, joined=drawn_as == "lines", unit=unit)
                panel.set_title(f"{quantity}, {unit}" if unit else quantity, fontsize="small")
        handles, labels = panels[0].get_legend_handles_labels()
        if len(labels) > 1:
            part.legend(handles, labels, loc="outside lower center", fontsize="x-small")
    figure.suptitle(title)
    figure.savefig(file, dpi=80)


def _marks(
    panel: Axes, rows: Sequence[Row], axis: str, quantity: str, *, joined: bool, unit: str
) -> None:
    """Draw the medians of a quantity, with their quartiles, and lines over a numeric axis.

    Seconds of categories have a logarithmic scale where one is ten times another or more, such as
    a Jetson's beside a server's; on it the length of a bar would mean nothing, so marks are drawn.
    A name has the same colour in each panel.
    """
    shown = [(row.name, row.x, row.rounds[quantity]) for row in rows if quantity in row.rounds]
    if not shown:
        panel.set_axis_off()
        panel.text(0.5, 0.5, "no values", ha="center", transform=panel.transAxes)
        return
    positions = list(dict.fromkeys(x for _, x, _ in shown))
    quartiles = np.array([np.percentile(values, (25, 50, 75)) for *_, values in shown])
    for index, name in enumerate(dict.fromkeys(row.name for row in rows)):
        own = [(float(x if joined else positions.index(x)), *rest)
               for (n, x, _), rest in zip(shown, quartiles, strict=True) if n == name]  # fmt: skip
        xs, low, median, high = np.array(sorted(own)).reshape(-1, 4).T
        panel.errorbar(
            xs, median, [median - low, high - median], marker="o", capsize=3, label=name,
            color=f"C{index}", linestyle="-" if joined else "none",
        )  # fmt: skip
    if joined:
        numbers = sorted(float(x) for x in positions)
        if axis in LOGARITHMIC:
            panel.set_xscale("log", base=2 if axis.startswith("batch") else 10)
        if len(numbers) <= LABELLED:
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
    _, medians, highest = quartiles.T
    if unit == "s" and not joined and medians.max() >= 10 * medians.min():
        panel.set_yscale("log")
    else:
        panel.set_ylim(0, 1.08 * highest.max() or 1)


def _stack(panel: Axes, shown: Sequence[Row], quantities: list[str]) -> None:
    """Draw a stacked bar of seconds for each row, from the top."""
    ends = np.zeros(len(shown))
    for name in quantities:
        if any(name in row.rounds for row in shown):
            seconds = np.array([np.median(row.rounds.get(name, [0.0])) for row in shown])
            height = min(0.8, 0.1 * len(shown) + 0.1)
            panel.barh(range(len(shown)), seconds, height, ends, label=name)
            ends += seconds
    panel.set_xlim(0, 1.05 * ends.max())
    panel.set_yticks(range(len(shown)), [row.name for row in shown], fontsize="x-small")
    panel.set_ylim(len(shown) - 0.5, -0.5)
    panel.set_xlabel("seconds")
