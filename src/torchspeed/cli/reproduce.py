"""``torchspeed reproduce``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchspeed.cli.options import (
    add_command,
    add_place,
    check_writable,
    configure,
    number,
    picture,
)
from torchspeed.cli.show import error_console, make_table, standard_output
from torchspeed.errors import TorchspeedError

if TYPE_CHECKING:
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
    option("--figure", type=picture, default=None, help="file of the picture (NAME.svg)")
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
    asked = {option: options[option] for option in options.keys() - {"data_dir", "download"}}
    origin = {"reproduction": name, "full": full, "devices": ranks.world(), **asked}
    measured: list[Point] = []
    try:
        # Every point once a round, so that slow changes of the machine affect all alike.
        for number in range(1, rounds + 1):
            for x, values in reproduction.measure(config, full):
                if ranks.rank() > 0:  # the first rank measures the same, and reports
                    continue
                measured.append((x, values))
                _show(reproduction, f"round {number} of {rounds}", x, values)
                line = {**origin, "round": number, "point": x, "values": values}
                with file.with_suffix(".jsonl").open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(line) + "\n")
    finally:
        if measured:
            _report(reproduction, measured, file)


def _show(reproduction: Reproduction, when: str, x: float | str, values: Values) -> None:
    name, first = next(iter(values.items()))
    shown = ", ".join(
        f"{quantity} {first[quantity]:.4g} {unit}".rstrip()
        for quantity, unit in reproduction.quantities.items()
        if quantity in first
    )
    where = f"{reproduction.axis} {_shown(x)}, {name}"
    error_console().print(f"{when}, {where}: {shown}")


def _report(reproduction: Reproduction, measured: list[Point], file: Path) -> None:
    from torchspeed.studies.figures import draw
    from torchspeed.studies.reproductions import by_row

    rows, published = by_row(measured), reproduction.published()
    axis, quantities = reproduction.axis, reproduction.quantities
    units = [f"{name}, {unit}" if unit else name for name, unit in quantities.items()]
    title = f"{reproduction.title}: published values; medians and interquartile ranges here"
    table = make_table(title, "", axis, numbers=units)
    slips: dict[str, int] = {}
    for row in (*published, *rows):
        marks = [slips.setdefault(slip, len(slips) + 1) for slip in row.slips]
        name = " ".join([row.name, *(f"[{mark}]" for mark in marks)])
        table.add_row(name, _shown(row.x), *(_summary(row.rounds.get(q)) for q in quantities))
    console = standard_output()
    console.print(table)
    for slip, mark in slips.items():
        console.print(f"[{mark}] {slip}", highlight=False)
    sides = {"published": published, "here": rows}
    draw(reproduction.title, sides, axis, quantities, reproduction.drawn_as, file)
    print(file)


def _summary(rounds: list[float] | None) -> str:
    """Return the median and the interquartile range of several rounds."""
    import numpy as np

    if rounds is None:
        return "–"
    low, median, high = np.percentile(rounds, (25, 50, 75))
    return f"{median:.4g}" + (f" ({high - low:.2g})" if len(rounds) > 1 else "")


def _shown(x: float | str) -> str:
    return x if isinstance(x, str) else f"{x:g}"
