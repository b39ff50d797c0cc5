"""``torchspeed sweep``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from torchspeed.cli.options import configure, read_values, takes
from torchspeed.cli.outputs import standard_output
from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig, complete, unused_option
from torchspeed.training.cores import announce_run

if TYPE_CHECKING:
    from torchspeed.studies.point import Outcome
    from torchspeed.studies.sweep import Point, Sweep

EXAMPLES = """
Examples:\n
  torchspeed sweep workers.journal -w 0,1,2 -e 3 --figures .\n
  torchspeed sweep sqlite:///all.db -b 32,128,512 --optimiser sgd,adam --rate 0.1,0.01 -e 20 --target-accuracy 90 --search 8\n
  torchspeed sweep postgresql://me@node1/sweeps -w 0,1,2  (the same on each machine)
"""  # noqa: E501

SETTINGS = ("model", "optimiser", "epochs", "batch_size", "window", "horizon", "rate", "workers")
"""Options that a sweep takes several values of."""


@takes(RunConfig, DataOptions, several=SETTINGS)
def sweep(
    *,
    storage: Annotated[
        str,
        typer.Argument(
            help="Journal file (also in a shared folder), sqlite:///FILE or "
            "postgresql://HOST/DATABASE; an existing sweep is continued."
        ),
    ],
    name: Annotated[
        str, typer.Option(help="Name of the sweep; a storage can hold several.")
    ] = "sweep",
    search: Annotated[
        int | None,
        typer.Option(min=1, help="Number of trials of a search, which replaces the grid."),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Show the stored points; run nothing.")
    ] = False,
    figures: Annotated[
        Path | None, typer.Option(help="Folder to draw the figures in, as SVG.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run failed points again.")
    ] = False,
    **options: Any,
) -> int:
    """Train with every combination of settings, or search for the fastest.

    Settings take several values, separated by commas: --batch-size 32,128. To share a sweep among
    workers, start this command with the same options on each machine that reaches the storage.
    """
    if figures is not None and not figures.is_dir():
        raise TorchspeedError(f"no folder {figures} for figures; make it first")
    if not report:
        announce_run()
    from torchspeed.studies.sweep import Sweep, grid

    if report:
        study = Sweep(storage, name, None)
    else:
        study = _begin(storage, name, options)
        if retry_failed:
            study.retry_failed()
        if search is not None:
            study.search(_axes(options), search, options["seed"])
        else:
            study.run(grid(_axes(options)))
    outcomes = study.outcomes()
    _show(outcomes, standard_output())
    if figures is not None:
        from torchspeed.studies.figures import draw_sweep

        for drawn in draw_sweep(outcomes, figures):
            print(drawn)
    failed = [outcome.reason for _, outcome in outcomes if outcome.result is None]
    if failed and len(failed) == len(outcomes):
        raise TorchspeedError(
            f"every point failed ({failed[0]}); correct that, and pass --retry-failed"
        )
    return 3 if failed else 0


def _begin(storage: str, name: str, options: dict[str, Any]) -> Sweep:
    from torchspeed.studies.sweep import Sweep, configured, grid

    config = configure({name: value for name, value in options.items() if name not in SETTINGS})
    asked = [configured(config, point) for point in grid(_axes(options))]
    for config_of_point in asked:  # a wrong name is refused before anything is stored
        complete(config_of_point)
    unused = [unused_option(config_of_point) for config_of_point in asked]
    if unused[0] and all(unused):
        raise TorchspeedError(unused[0])
    progress = Console(stderr=True)

    def report(point: Point, outcome: Outcome) -> None:
        settings = ", ".join(f"{name} {value}" for name, value in point.items())
        done = "done" if outcome.result is not None else f"failed: {outcome.reason}"
        progress.print(f"{settings}: {done}", highlight=False)

    return Sweep(storage, name, config, report)


def _axes(options: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the settings that were given, each with its values."""
    given = {name: options[name] for name in SETTINGS if options[name] is not None}
    return {name: read_values(name, text) for name, text in given.items()}


def _show(outcomes: list[tuple[Point, Outcome]], console: Console) -> None:
    from torchspeed.cli.show import make_table, percent, seconds

    settings = list(dict.fromkeys(name for point, _ in outcomes for name in point))
    if len(outcomes) > 1:
        settings = [n for n in settings if len({point.get(n) for point, _ in outcomes}) > 1]
    measures = ("training accuracy", "accuracy", "loading", "training", "function", "items/s",
                "loss", "to target")  # fmt: skip
    table = make_table("sweep", numbers=(*settings, *measures))
    failures = make_table("failed", *settings, "reason")
    for point, outcome in outcomes:
        values = [str(point.get(name, "–")) for name in settings]
        result = outcome.result
        if result is None:
            failures.add_row(*values, outcome.reason)
            continue
        columns = result["time_to_accuracy"]
        table.add_row(
            *values,
            percent(columns["best_training_accuracy"]),
            percent(columns["best_test_accuracy"]),
            seconds(columns["data_loading_s"]),
            seconds(columns["epoch_training_s"]),
            seconds(columns["training_function_s"]),
            f"{result['items_per_s']:,.0f}",
            f"{columns['average_training_loss']:.4f}",
            seconds(columns["seconds_to_target"]),
        )
    console.print(table)
    if failures.row_count:
        console.print(failures)
