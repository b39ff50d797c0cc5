"""``torchspeed sweep``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchspeed.cli.options import add_command, add_run, add_training, configure, number, several
from torchspeed.cli.show import error_console, make_table, percent, seconds, standard_output
from torchspeed.errors import TorchspeedError
from torchspeed.training.config import complete, unused_option

if TYPE_CHECKING:
    import optuna
    from rich.console import Console

    from torchspeed.studies.sweep import Outcome, Point

SETTINGS = (
    "model", "batch_size", "workers", "window", "horizon", "epochs", "optimiser", "rate"
)  # fmt: skip
"""Options that take several values."""


def add_commands(commands: Any) -> None:
    """Add the command to the command line."""
    parser = add_command(commands, "sweep", sweep, "STORAGE ")
    option = parser.add_argument
    about = (
        "SQLite file, or postgresql://HOST/DATABASE for several processes or machines; an "
        "existing sweep is continued"
    )
    option("storage", metavar="STORAGE", help=about)
    about = "name of the sweep; a storage can hold several (sweep)"
    option("--name", default="sweep", help=about)
    about = "number of trials of a search, which replaces the grid"
    option("--search", type=number(int, 1), default=None, help=about)
    about = "show the stored points; run nothing"
    option("--report", action="store_true", default=False, help=about)
    option("--figures", type=Path, default=None, help="folder to draw the figures in, as SVG")
    add_run(parser)
    add_training(parser)
    for action in parser._actions:
        if action.dest in SETTINGS:
            read: Any = action.type or str
            action.type = several(read)


def sweep(options: dict[str, Any]) -> int:
    """Train with every combination of settings, or search for the fastest.

    Settings take several values, separated by commas: --batch-size 32,128. To share a sweep among
    processes, start this command with the same options on each machine that reaches the database.

    Examples:
      torchspeed sweep workers.db -w 0,1,2 -e 3 --figures .
      torchspeed sweep all.db -b 32,128 --optimiser sgd,adam --target-accuracy 90 --search 8
      torchspeed sweep postgresql://me@node1/sweeps -w 0,1,2     # the same on each machine
    """
    storage, name, search, figures = (
        options.pop(option) for option in ("storage", "name", "search", "figures")
    )
    if figures is not None and not figures.is_dir():
        raise TorchspeedError(f"no folder {figures} for figures; make it first")
    from torchspeed.studies.sweep import count_trials, open_study, outcomes

    report = options.pop("report")
    study = open_study(storage, name) if report else _run(storage, name, search, options)
    found = outcomes(study)
    _show(found, standard_output())
    if search is not None:
        trials, points = count_trials(study), len(found)
        chose = f"{trials} trial{'s' * (trials > 1)} chose {points} point{'s' * (points > 1)}"
        print(f"{chose}; none is trained twice")
    if figures is not None:
        from torchspeed.studies.figures import draw_sweep

        for drawn in draw_sweep(found, figures):
            print(drawn)
    failed = [outcome for _, outcome in found if isinstance(outcome, str)]
    if failed and len(failed) == len(found):
        raise TorchspeedError(
            f"every point failed ({failed[0]}); correct that, and start the command again"
        )
    return 3 if failed else 0


def _run(storage: str, name: str, search: int | None, options: dict[str, Any]) -> optuna.Study:
    from torchspeed.studies.sweep import grid, open_study, run

    axes = {setting: options.pop(setting) for setting in SETTINGS if setting in options}
    config = configure(options)
    asked = [replace(config, **point) for point in grid(axes)]
    for config_of_point in asked:  # a wrong name is refused before anything is stored
        complete(config_of_point)
    unused = [unused_option(config_of_point) for config_of_point in asked]
    if unused[0] and all(unused):
        raise TorchspeedError(unused[0])
    study = open_study(storage, name, config, None if search is None else axes)
    progress = error_console()

    def report(point: Point, outcome: Outcome) -> None:
        settings = ", ".join(f"{name} {value}" for name, value in point.items())
        done = f"failed: {outcome}" if isinstance(outcome, str) else "done"
        progress.print(f"{settings}: {done}")

    run(study, config, axes, search, report)
    return study


def _show(outcomes: list[tuple[Point, Outcome]], console: Console) -> None:
    settings = list(dict.fromkeys(name for point, _ in outcomes for name in point))
    if len(outcomes) > 1:
        settings = [n for n in settings if len({point.get(n) for point, _ in outcomes}) > 1]
    measures = ("training accuracy", "accuracy", "loading", "training", "function", "items/s",
                "loss", "to target")  # fmt: skip
    table = make_table("sweep", numbers=(*settings, *measures))
    failures = make_table("failed", *settings, "reason")
    for point, outcome in outcomes:
        values = [str(point.get(name, "–")) for name in settings]
        if isinstance(outcome, str):
            failures.add_row(*values, outcome)
            continue
        columns = outcome["time_to_accuracy"]
        table.add_row(
            *values,
            percent(columns["best_training_accuracy"]),
            percent(columns["best_test_accuracy"]),
            seconds(columns["data_loading_s"]),
            seconds(columns["epoch_training_s"]),
            seconds(columns["training_function_s"]),
            f"{outcome['items_per_s']:,.0f}",
            f"{columns['average_training_loss']:.4f}",
            seconds(columns["seconds_to_target"]),
        )
    console.print(table)
    if failures.row_count:
        console.print(failures)
