"""A sweep's two figures, as dl-benchmark has them: against workers and against batch size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from torchspeed.training.sweep import MeasuredPoint

AXES = {"workers": "workers", "batch_size": "batch size"}
"""Setting to the label of its axis."""


def draw_figures(outcomes: list[MeasuredPoint], folder: Path) -> list[Path]:
    """Draw epoch time and time to accuracy against each of ``AXES`` that was swept.

    Failed points are left out, and so are points without a time to accuracy
    from its panel; a line joins the points that share all other settings.

    Returns:
        The files written, SVG.
    """
    done = [outcome for outcome in outcomes if outcome.result is not None]
    files = []
    for axis, label in AXES.items():
        if len({outcome.point.get(axis) for outcome in done}) < 2:
            continue
        figure = Figure(figsize=(9, 4), layout="constrained")
        panels = figure.subplots(1, 2)
        _panel(panels[0], done, axis, "mean time of an epoch, s", _epoch_time)
        _panel(panels[1], done, axis, "time to accuracy, s", _time_to_accuracy)
        for panel in panels:
            panel.set_xlabel(label)
        figure.suptitle(_title(done[0].result))
        file = folder / f"against_{axis}.svg"
        figure.savefig(file)
        files.append(file)
    return files


def _panel(panel: Any, outcomes: list[MeasuredPoint], axis: str, label: str, value: Any) -> None:
    lines: dict[str, list[tuple[float, float]]] = {}
    for outcome in outcomes:
        y = value(outcome.result)
        if y is not None:
            others = (f"{n} {v}" for n, v in outcome.point.items() if n != axis)
            lines.setdefault(", ".join(others), []).append((float(outcome.point[axis]), y))
    for name, points in lines.items():
        xs, ys = zip(*sorted(points), strict=True)
        panel.plot(xs, ys, marker="o", label=name)
    panel.set_ylabel(label)
    panel.set_ylim(bottom=0)
    ticks = sorted({x for points in lines.values() for x, _ in points})
    if axis == "batch_size":
        panel.set_xscale("log")
    panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.minorticks_off()
    if not lines:
        panel.text(0.5, 0.5, "target not reached, or none given", ha="center",
                   transform=panel.transAxes)  # fmt: skip
    elif len(lines) > 1:
        panel.legend(fontsize="small")


def _title(result: dict[str, Any] | None) -> str:
    config = result["config"] if result else {}
    return f"{config['model']} on {config['data']}"


def _epoch_time(result: dict[str, Any]) -> float:
    epochs = [epoch["wall_s"] for epoch in result["epochs"]]
    return float(sum(epochs) / len(epochs))


def _time_to_accuracy(result: dict[str, Any]) -> float | None:
    seconds: float | None = result["time_to_accuracy"]["seconds_to_target"]
    return seconds
