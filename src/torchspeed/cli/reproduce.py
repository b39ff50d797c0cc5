"""``torchspeed reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from torchspeed.cli.console import standard_output
from torchspeed.errors import TorchspeedError

if TYPE_CHECKING:
    from torchspeed.training.reproductions import Reproduction, Row

EXAMPLES = """
Examples:\n
  torchspeed reproduce workers\n
  torchspeed reproduce batch-size --full --device cuda --download\n
  torchspeed reproduce phases --figure phases.svg
"""

NAMES = ("workers", "batch-size", "optimiser", "rate", "epochs", "phases", "inference",
         "smooth-inference", "cnn-epoch", "time-series", "exchange-rates")  # fmt: skip
"""Names of `REPRODUCTIONS`, for help and completion without torch."""


def _complete(incomplete: str) -> list[str]:
    return [name for name in NAMES if name.startswith(incomplete)]


def reproduce(
    name: Annotated[
        str, typer.Argument(help=f"Any of {', '.join(NAMES)}.", autocompletion=_complete)
    ],
    *,
    full: Annotated[
        bool, typer.Option("--full", help="Take the published sizes; the default is small.")
    ] = False,
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:N.")] = "cpu",
    limit_batches: Annotated[
        int | None, typer.Option(min=1, help="Largest number of steps per epoch.")
    ] = None,
    data_dir: Annotated[Path, typer.Option(help="Folder of the data.")] = Path("data"),
    download: Annotated[
        bool, typer.Option("--download", help="Download what is missing.")
    ] = False,
    figure: Annotated[
        Path | None, typer.Option(help="File of the picture; NAME.svg by default.")
    ] = None,
) -> None:
    """Measure a published figure or table here, and draw it beside the published values."""
    from torchspeed.cli.outputs import check_writable

    if name not in NAMES:
        raise TorchspeedError(f"nothing published is called {name!r}; give {', '.join(NAMES)}")
    file = figure or Path(f"{name}.svg")
    check_writable(file)
    from torchspeed.data.options import DataOptions
    from torchspeed.training.reproductions import REPRODUCTIONS, Size
    from torchspeed.training.side_by_side import draw_side_by_side

    reproduction = REPRODUCTIONS[name]
    options = DataOptions(data_dir=data_dir, download=download)
    rows = reproduction.measure(Size(full, limit_batches, device, options))
    _show(reproduction, rows)
    draw_side_by_side(reproduction, rows, file)
    print(file)


def _show(reproduction: Reproduction, rows: list[Row]) -> None:
    from torchspeed.cli.show import make_table

    units = [f"{name}, {unit}" if unit else name for name, unit in reproduction.quantities.items()]
    table = make_table(reproduction.title, "", reproduction.axis, numbers=units)
    for row in [*reproduction.published(), *rows]:
        x = row.x if isinstance(row.x, str) else f"{row.x:g}"
        numbers = (row.values.get(quantity) for quantity in reproduction.quantities)
        table.add_row(row.name, x, *("–" if n is None else f"{n:.4g}" for n in numbers))
    standard_output().print(table)
