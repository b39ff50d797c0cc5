"""``torchspeed reproduce``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from torchspeed.cli.options import complete_from, configure, takes
from torchspeed.cli.outputs import (
    check_writable,
    error_console,
    progress_bar,
    standard_output,
)
from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig
from torchspeed.training.cores import announce_run, shared_threads

if TYPE_CHECKING:
    from torchspeed.studies.measuring import Measurements, Point, Summary
    from torchspeed.studies.reproductions import Reproduction

EXAMPLES = """
Examples:\n
  torchspeed reproduce workers\n
  torchspeed reproduce batch-size --full --device cuda --download\n
  torchspeed reproduce batch-size -m resnet18_mnist -d fashion_mnist --full --download\n
  torchspeed reproduce phases --device cuda --devices 4 --figure phases.svg
"""

LENET_FIGURES = ("workers", "batch-size")
"""Figures of dl-benchmark, which can also be drawn for another model and other data."""
JADE_TABLES = ("phases", "inference", "smooth-inference", "expected-speed")
"""Tables of BenchmarkJade, which can be measured on several devices."""
NAMES = (*LENET_FIGURES, *JADE_TABLES, "cnn-epoch", "time-series", "adam-steps", "exchange-rates")
"""Names of `REPRODUCTIONS`, for help and completion without torch."""


@takes(
    RunConfig,
    DataOptions,
    only=("model", "data", "limit_batches", "device", "threads", "data_dir", "download"),
)
def reproduce(
    name: Annotated[
        str,
        typer.Argument(help=f"Any of {', '.join(NAMES)}.", autocompletion=complete_from(NAMES)),
    ],
    *,
    full: Annotated[
        bool, typer.Option("--full", help="Use the published sizes; the default ones are small.")
    ] = False,
    rounds: Annotated[
        int, typer.Option(min=1, help="Number of rounds; each measures every point once.")
    ] = 3,
    devices: Annotated[
        str, typer.Option(help="Devices of BenchmarkJade's tables: a number, or auto.")
    ] = "1",
    figure: Annotated[
        Path | None, typer.Option(help="File of the picture; NAME.svg by default.")
    ] = None,
    **options: Any,
) -> None:
    """Measure a published figure or table here, and draw it beside the published values.

    Measurements are stored beside the picture, in NAME.jsonl. An interrupted run draws what it
    measured, and the same command continues it.
    """
    if name not in NAMES:
        raise TorchspeedError(f"nothing published is called {name!r}; give {', '.join(NAMES)}")
    config = configure(options)
    if name not in LENET_FIGURES and (config.data or config.model != "lenet5"):
        raise TorchspeedError(f"{name} has its own model and data; leave out --model and --data")
    if name not in JADE_TABLES and devices != "1":
        raise TorchspeedError(f"{name} runs on one device; leave out --devices")
    file = figure or Path(f"{name}.svg")
    check_writable(file)
    announce_run()
    from torchspeed.cli.session import count_devices
    from torchspeed.studies.measuring import Measurements
    from torchspeed.studies.reproductions import REPRODUCTIONS, Setting

    count = count_devices(devices, config.device)
    config = replace(config, threads=config.threads or shared_threads(count))
    reproduction = REPRODUCTIONS[name]
    points = reproduction.points(Setting(config, full, count))
    origin = {"reproduction": name, "full": full, "devices": count, **config.as_dict()}
    del origin["threads"], origin["data_options"]
    measurements = Measurements(file.with_suffix(".jsonl"), origin, points, rounds)
    try:
        _measure(measurements, reproduction)
    finally:
        _report(reproduction, measurements, file)


def _measure(measurements: Measurements, reproduction: Reproduction) -> None:
    """Measure what is missing; show the time left and a line for each measurement."""
    console = error_console()
    missing = list(measurements.missing())
    if missing and len(missing) < measurements.wanted:
        done = measurements.wanted - len(missing)
        console.print(f"{done} of {measurements.wanted} are measured already")
    with progress_bar(console) as bar:
        task = bar.add_task("", total=len(missing))
        for number, point in missing:
            bar.update(task, description=f"{reproduction.axis} {_shown(point.x)}", refresh=True)
            values = point.measure()
            measurements.add(point, values)
            bar.advance(task)
            console.print(_line(reproduction, number, point, values))


def _line(
    reproduction: Reproduction, number: int, point: Point, values: dict[str, dict[str, float]]
) -> str:
    first = next(iter(values.values()))
    shown = ", ".join(
        f"{quantity} {first[quantity]:.4g} {unit}".rstrip()
        for quantity, unit in reproduction.quantities.items()
        if quantity in first
    )
    return f"round {number}, {reproduction.axis} {_shown(point.x)}, {point.name}: {shown}"


def _report(reproduction: Reproduction, measurements: Measurements, file: Path) -> None:
    """Show the table and draw the picture of what is measured, if anything is."""
    from torchspeed.cli.show import make_table
    from torchspeed.studies.figures import draw_side_by_side

    rows, published = measurements.rows(), reproduction.published()
    units = [f"{name}, {unit}" if unit else name for name, unit in reproduction.quantities.items()]
    title = f"{reproduction.title}: published values; medians and interquartile ranges here"
    table = make_table(title, "", reproduction.axis, numbers=units)
    slips: dict[str, int] = {}
    for row in published:
        marks = [slips.setdefault(slip, len(slips) + 1) for slip in row["slips"]]
        name = " ".join([row["name"], *(f"[{mark}]" for mark in marks)])
        numbers = (row.get(quantity) for quantity in reproduction.quantities)
        shown = ("–" if n is None else f"{n:.4g}" for n in numbers)
        table.add_row(_escaped(name), _shown(row[reproduction.axis]), *shown)
    for name, x, summaries in rows:
        numbers = (summaries.get(quantity) for quantity in reproduction.quantities)
        table.add_row(name, _shown(x), *map(_summary, numbers))
    console = standard_output()
    console.print(table)
    for slip, mark in slips.items():
        console.print(_escaped(f"[{mark}] {slip}"), highlight=False)
    draw_side_by_side(reproduction, published, rows, file)
    print(file)


def _summary(summary: Summary | None) -> str:
    if summary is None:
        return "–"
    return f"{summary.median:.4g}" + (f" ({summary.iqr:.2g})" if summary.rounds > 1 else "")


def _shown(x: float | str) -> str:
    return x if isinstance(x, str) else f"{x:g}"


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
