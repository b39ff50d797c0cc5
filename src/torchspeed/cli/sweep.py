"""``torchspeed sweep``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from torchspeed.cli import training_options as o
from torchspeed.errors import TorchspeedError
from torchspeed.exit_status import ExitStatus

EXAMPLES = """
Examples:\n
  torchspeed sweep workers.jsonl -w 0,1,2 -e 3 --figures .\n
  torchspeed sweep all.jsonl -b 32,128,512 --optimiser sgd,adam --rate 0.1,0.01 -e 20 --target-accuracy 90 --search 8
"""  # noqa: E501
_SETTINGS = "Settings, several with commas"

Workers = Annotated[str, typer.Option("--workers", "-w", rich_help_panel=_SETTINGS)]
BatchSizes = Annotated[
    str,
    typer.Option(
        "--batch-size",
        "-b",
        help="auto: 16, 32, 64 and so on, as far as memory reaches.",
        rich_help_panel=_SETTINGS,
    ),
]
Optimisers = Annotated[str, typer.Option("--optimiser", "--optimizer", rich_help_panel=_SETTINGS)]
Rates = Annotated[str, typer.Option("--rate", "--lr", rich_help_panel=_SETTINGS)]


@o.takes(
    o.RUN,
    o.LEARNING,
    o.DATA,
    o.DEVICE,
    without=("batch_size", "workers", "optimiser", "rate", "devices", "strategy"),
)
def sweep(
    context: typer.Context,
    *,
    file: Annotated[
        Path,
        typer.Argument(help="File of outcomes, one JSON line each; an existing one is continued."),
    ],
    workers: Workers = "0",
    batch_size: BatchSizes = "128",
    optimiser: Optimisers = "sgd",
    rate: Rates = "0.01",
    search: Annotated[
        int | None,
        typer.Option(min=1, help="Search with so many trials instead of the whole grid."),
    ] = None,
    memory: Annotated[
        float | None,
        typer.Option(min=0, help="GiB that a run with --batch-size auto may take."),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Folder to draw the two figures in, as SVG.")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(min=0, help="Seconds after which a point has failed.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run failed points again.")
    ] = False,
    **fixed: Any,
) -> int:
    """Train with every combination of settings, or search for the fastest."""
    from torchspeed.cli.configure import check_writable, default_data, read_values

    grows = batch_size == "auto"
    if memory is not None and not grows:
        raise TorchspeedError("--memory is for --batch-size auto; leave it out")
    if search is not None and grows:
        raise TorchspeedError("--search needs batch sizes; give --batch-size 32,128,512")
    sizes: list[int] = []
    if not grows:
        sizes = read_values("--batch-size", batch_size, int, "auto or whole numbers")
    axes = {
        "workers": read_values("--workers", workers, int, "whole numbers"),
        "batch_size": sizes,
        "optimiser": read_values("--optimiser", optimiser, str, "names of torch.optim"),
        "rate": read_values("--rate", rate, float, "numbers"),
    }
    from torchspeed.training.batch_sizes import best_batch_sizes, doubling
    from torchspeed.training.sweep import Sweep, grid

    check_writable(file)
    if figures is not None and not figures.is_dir():
        raise TorchspeedError(f"no folder {figures} for figures; make it first")
    del fixed["config"]  # its values are among the others
    fixed["data"] = fixed["data"] or default_data(fixed["model"])
    arguments = o.as_arguments(fixed)
    runs = Sweep(file, arguments, timeout)
    if retry_failed:
        runs.forget_failures()
    progress = Announcer(None if grows else search or len(grid(axes)), tuple(axes))
    if search is not None:
        outcomes = runs.search(axes, search, fixed["seed"], progress)
    elif grows:
        room = None if memory is None else memory * 1024**3
        outcomes = runs.run(doubling(runs, axes, room), progress)
    else:
        outcomes = runs.run(grid(axes), progress)
    _show(outcomes, Console())
    if grows:
        print(best_batch_sizes(outcomes))
    if figures is not None:
        from torchspeed.training.figures import draw_figures

        for drawn in draw_figures(outcomes, figures):
            print(drawn)
    failed = sum(outcome.result is None for outcome in outcomes)
    if failed == len(outcomes):
        raise TorchspeedError(
            f"every point failed ({outcomes[0].reason}); mend that, then run the same with "
            "--retry-failed"
        )
    return ExitStatus.SOME_CASES_FAILED if failed else ExitStatus.DONE


class Announcer:
    """One line a point, on standard error.

    Args:
        total: how many points there are; None where that is not known.
        settings: of a point to show.
    """

    def __init__(self, total: int | None, settings: tuple[str, ...]) -> None:
        self.total = total
        self.shown = settings
        self.done = 0
        self.console = Console(stderr=True)

    def __call__(self, outcome: Any, known: bool) -> None:
        """Report that a point is done, or was there already."""
        self.done += 1
        what = "known" if known else ("done" if outcome.result else f"failed: {outcome.reason}")
        settings = ", ".join(f"{name} {outcome.point[name]}" for name in self.shown)
        count = f"{self.done} of {self.total}" if self.total else str(self.done)
        self.console.print(f"{count}: {settings}: {what}", highlight=False)


def _show(outcomes: list[Any], console: Console) -> None:
    from torchspeed.cli.show import make_table, percent, seconds

    settings = ("workers", "batch", "optimiser", "rate")
    measured = (
        "best training accuracy",
        "best accuracy",
        "loading",
        "training",
        "function",
        "items/s",
        "memory",
        "loss",
        "to target",
    )
    table = make_table("sweep", numbers=(*settings, *measured))
    unique = {str(outcome.point): outcome for outcome in outcomes}.values()
    for outcome in unique:
        if outcome.result is None:
            continue
        columns = outcome.result["time_to_accuracy"]
        reached = columns["seconds_to_target"]
        table.add_row(
            *(str(value) for value in outcome.point.values()),
            percent(columns["best_training_accuracy"]),
            percent(columns["best_test_accuracy"]),
            seconds(columns["data_loading_s"]),
            seconds(columns["epoch_training_s"]),
            seconds(columns["training_function_s"]),
            f"{outcome.result['items_per_s']:,.0f}",
            f"{outcome.result['peak_memory_bytes'] / 1024**2:,.0f} MiB",
            _loss(columns["average_training_loss"]),
            "–" if reached is None else seconds(reached),
        )
    console.print(table)
    failed = [outcome for outcome in unique if outcome.result is None]
    if failed:
        failures = make_table("failed", *settings, "reason")
        for outcome in failed:
            failures.add_row(*(str(value) for value in outcome.point.values()), outcome.reason)
        console.print(failures)


def _loss(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.4f}"
