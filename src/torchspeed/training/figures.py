"""Figures of a sweep, as dl-benchmark has them: times against each setting that was swept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from torchspeed.training.sweep import MeasuredPoint

LOGARITHMIC = ("batch_size", "rate")
"""Settings whose values are usually multiples of each other."""


def draw_figures(outcomes: list[MeasuredPoint], folder: Path) -> list[Path]:
    """Draw epoch time and time to accuracy against each setting with several values.

    Failed points are left out, and so are points without a time to accuracy
    from its panel; a line joins the points that share all other settings.

    Returns:
        The files written, SVG.
    """
    done = [measured for measured in outcomes if measured.outcome.result is not None]
    files = []
    for axis in dict.fromkeys(name for measured in done for name in measured.point):
        if len({measured.point.get(axis) for measured in done}) < 2:
            continue
        figure = Figure(figsize=(9, 4), layout="constrained")
        panels = figure.subplots(1, 2)
        _panel(panels[0], done, axis, "mean time of an epoch, s", _epoch_time)
        _panel(panels[1], done, axis, "time to accuracy, s", _time_to_accuracy)
        config = (done[0].outcome.result or {})["config"]
        figure.suptitle(f"{config['model']} on {config['data']}")
        file = folder / f"against_{axis}.svg"
        figure.savefig(file)
        files.append(file)
    return files


def draw_lines(panel: Axes, axis: str, lines: dict[str, list[tuple[Any, float]]]) -> None:
    """Draw values against a setting, a line for each name, with a tick at each value."""
    for name, points in lines.items():
        panel.plot(*zip(*sorted(points), strict=True), marker="o", label=name)
    ticks = sorted({x for points in lines.values() for x, _ in points})
    if axis in LOGARITHMIC:
        panel.set_xscale("log")
    if not any(isinstance(tick, str) for tick in ticks):
        panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.minorticks_off()
    panel.set_xlabel(axis.replace("_", " "))
    panel.set_ylim(bottom=0)
    panel.margins(y=0.1)
    if len(lines) > 1:
        panel.legend(fontsize="small")


def _panel(
    panel: Axes,
    outcomes: list[MeasuredPoint],
    axis: str,
    label: str,
    value: Callable[[dict[str, Any]], float | None],
) -> None:
    lines: dict[str, list[tuple[Any, float]]] = {}
    for measured in outcomes:
        y = value(measured.outcome.result or {})
        if y is not None and axis in measured.point:
            others = (f"{n} {v}" for n, v in measured.point.items() if n != axis)
            lines.setdefault(", ".join(others), []).append((measured.point[axis], y))
    panel.set_ylabel(label)
    draw_lines(panel, axis, lines)
    if not lines:
        panel.text(0.5, 0.5, "target not reached, or none given", ha="center",
                   transform=panel.transAxes)  # fmt: skip


def _epoch_time(result: dict[str, Any]) -> float:
    epochs = [epoch["wall_s"] for epoch in result["epochs"]]
    return float(sum(epochs) / len(epochs))


def _time_to_accuracy(result: dict[str, Any]) -> float | None:
    seconds: float | None = result["time_to_accuracy"]["seconds_to_target"]
    return seconds
