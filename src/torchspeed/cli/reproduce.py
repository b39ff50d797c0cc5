"""``torchspeed reproduce``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from torchspeed.cli.options import (
    add_command,
    add_place,
    check_writable,
    configure,
    number,
)
from torchspeed.cli.show import error_console, make_table, standard_output
from torchspeed.errors import TorchspeedError

if TYPE_CHECKING:
    from torchspeed.studies.figures import Summary
    from torchspeed.studies.reproductions import Point, Reproduction, Values

LENET_FIGURES = ("workers", "batch-size")
"""Figures of dl-benchmark, which can also be drawn for another model and other data."""
JADE_TABLES = ("phases", "inference", "smooth-inference", "expected-speed")
"""Tables of BenchmarkJade, which torchrun can measure on several devices."""
NAMES = (*LENET_FIGURES, *JADE_TABLES, "cnn-epoch", "time-series", "adam-steps", "exchange-rates")
"""Names of `REPRODUCTIONS`, for help without torch."""


def add_commands(commands: Any) -> None:
    """Add the command to the command line."""
    parser = add_command(commands, "reproduce", reproduce, "NAME ")
    option = parser.add_argument
    option("name", metavar="NAME", help=f"any of {', '.join(NAMES)}")
    about = "use the published sizes; the default ones are small"
    option("--full", action="store_true", default=False, help=about)
    about = "each round measures every point once (3)"
    option("--rounds", type=number(int, 1), default=3, help=about)
    option("--figure", type=Path, default=None, help="file of the picture (NAME.svg)")
    add_place(parser)


def reproduce(options: dict[str, Any]) -> None:
    """Measure a published figure or table here, and draw it beside the published values.

    Measurements are added to NAME.jsonl beside the picture. An interrupted run draws what it
    measured.

    Examples:
      torchspeed reproduce workers
      torchspeed reproduce batch-size --full --device cuda --download
      torchspeed reproduce batch-size -m resnet18_mnist -d fashion_mnist --full --download
      torchrun --nproc-per-node 4 -m torchspeed.cli reproduce phases --device cuda
    """
    name, full, rounds, figure = (
        options.pop(option) for option in ("name", "full", "rounds", "figure")
    )
    if name not in NAMES:
        raise TorchspeedError(f"nothing published is called {name!r}; give {', '.join(NAMES)}")
    if name not in LENET_FIGURES and {"model", "data"} & options.keys():
        raise TorchspeedError(f"{name} has its own model and data; leave out --model and --data")
    file = figure or Path(f"{name}.svg")
    check_writable(file)
    from torchspeed.studies.reproductions import REPRODUCTIONS
    from torchspeed.training import ranks

    config = configure(options)
    ranks.join(config.device)
    if ranks.world() > 1 and name not in JADE_TABLES:
        raise TorchspeedError(f"{name} runs on one device; start it without torchrun")
    reproduction = REPRODUCTIONS[name]
    points = reproduction.points(config, full)
    if ranks.rank() > 0:  # the first rank measures the same, and reports
        for _, point in product(range(rounds), points):
            point.measure()
        return
    asked = {option: options[option] for option in options.keys() - {"data_dir", "download"}}
    origin = {"reproduction": name, "full": full, "devices": ranks.world(), **asked}
    measured: list[tuple[Point, Values]] = []
    try:
        for number, point, values in _measure(reproduction, points, rounds):
            measured.append((point, values))
            line = {**origin, "round": number, "point": [point.name, point.x], "values": values}
            with file.with_suffix(".jsonl").open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(line) + "\n")
    finally:
        _report(reproduction, measured, file)


def _measure(
    reproduction: Reproduction, points: list[Point], rounds: int
) -> Iterator[tuple[int, Point, Values]]:
    """Measure every point once a round, so that slow changes of the machine affect all alike.

    A bar has the time left, and each measurement a line.
    """
    from torchspeed.cli.progress import progress_bar

    console = error_console()
    with progress_bar(console) as bar:
        task = bar.add_task("", total=rounds * len(points))
        for number, point in product(range(1, rounds + 1), points):
            bar.update(task, description=f"{reproduction.axis} {_shown(point.x)}", refresh=True)
            values = point.measure()
            bar.advance(task)
            first = next(iter(values.values()))
            shown = ", ".join(
                f"{quantity} {first[quantity]:.4g} {unit}".rstrip()
                for quantity, unit in reproduction.quantities.items()
                if quantity in first
            )
            where = f"{reproduction.axis} {_shown(point.x)}, {point.name}"
            console.print(f"round {number}, {where}: {shown}")
            yield number, point, values


def _report(reproduction: Reproduction, measured: list[tuple[Point, Values]], file: Path) -> None:
    from torchspeed.studies.figures import draw_side_by_side, summarise

    rows, published = summarise(measured), reproduction.published()
    units = [f"{name}, {unit}" if unit else name for name, unit in reproduction.quantities.items()]
    title = f"{reproduction.title}: published values; medians and interquartile ranges here"
    table = make_table(title, "", reproduction.axis, numbers=units)
    slips: dict[str, int] = {}
    for row in published:
        marks = [slips.setdefault(slip, len(slips) + 1) for slip in row["slips"]]
        name = " ".join([row["name"], *(f"[{mark}]" for mark in marks)])
        numbers = (row.get(quantity) for quantity in reproduction.quantities)
        shown = ("–" if n is None else f"{n:.4g}" for n in numbers)
        table.add_row(escape(name), _shown(row[reproduction.axis]), *shown)
    for name, x, summaries in rows:
        numbers = (summaries.get(quantity) for quantity in reproduction.quantities)
        table.add_row(name, _shown(x), *map(_summary, numbers))
    console = standard_output()
    console.print(table)
    for slip, mark in slips.items():
        console.print(escape(f"[{mark}] {slip}"), highlight=False)
    draw_side_by_side(reproduction, published, rows, file)
    print(file)


def _summary(summary: Summary | None) -> str:
    if summary is None:
        return "–"
    return f"{summary.median:.4g}" + (f" ({summary.iqr:.2g})" if summary.rounds > 1 else "")


def _shown(x: float | str) -> str:
    return x if isinstance(x, str) else f"{x:g}"
