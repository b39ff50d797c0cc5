"""``torchspeed reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from torchspeed.cli.options import complete_from, configure, takes
from torchspeed.cli.outputs import check_writable, standard_output
from torchspeed.data.catalogue import DataOptions
from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig

if TYPE_CHECKING:
    from torchspeed.studies.reproductions import Reproduction, Row

EXAMPLES = """
Examples:\n
  torchspeed reproduce workers\n
  torchspeed reproduce batch-size --full --device cuda --download\n
  torchspeed reproduce phases --figure phases.svg
"""

NAMES = ("workers", "batch-size", "optimiser", "rate", "epochs", "phases", "inference",
         "smooth-inference", "expected-speed", "cnn-epoch", "time-series",
         "exchange-rates")  # fmt: skip
"""Names of `REPRODUCTIONS`, for help and completion without torch."""


@takes(RunConfig, DataOptions, only=("limit_batches", "device", "data_dir", "download"))
def reproduce(
    name: Annotated[
        str,
        typer.Argument(help=f"Any of {', '.join(NAMES)}.", autocompletion=complete_from(NAMES)),
    ],
    *,
    full: Annotated[
        bool, typer.Option("--full", help="Take the published sizes; the default is small.")
    ] = False,
    figure: Annotated[
        Path | None, typer.Option(help="File of the picture; NAME.svg by default.")
    ] = None,
    **options: Any,
) -> None:
    """Measure a published figure or table here, and draw it beside the published values."""
    if name not in NAMES:
        raise TorchspeedError(f"nothing published is called {name!r}; give {', '.join(NAMES)}")
    file = figure or Path(f"{name}.svg")
    check_writable(file)
    from torchspeed.studies.figures import draw_side_by_side
    from torchspeed.studies.reproductions import REPRODUCTIONS

    reproduction = REPRODUCTIONS[name]
    rows = reproduction.measure(configure(options), full)
    _show(reproduction, rows)
    draw_side_by_side(reproduction, rows, file)
    print(file)


def _show(reproduction: Reproduction, rows: list[Row]) -> None:
    from torchspeed.cli.show import make_table

    units = [f"{name}, {unit}" if unit else name for name, unit in reproduction.quantities.items()]
    table = make_table(reproduction.title, "", reproduction.axis, numbers=units)
    for row in [*reproduction.published(), *rows]:
        x = row[reproduction.axis]
        numbers = (row.get(quantity) for quantity in reproduction.quantities)
        shown = ("–" if n is None else f"{n:.4g}" for n in numbers)
        table.add_row(row["name"], x if isinstance(x, str) else f"{x:g}", *shown)
    standard_output().print(table)
