"""Progress and results for people, and the consoles that show them."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress
from rich.table import Table

from torchspeed.training.config import Observer

if TYPE_CHECKING:
    from torchspeed.training.forecasts import ForecastReport
    from torchspeed.training.results import EpochRecord, RankTimes, RunResult

_WIDTH_OF_FILES = 160

REDRAW_S = 0.5
"""Seconds between two drawings; one takes milliseconds, so drawing is near 1 % of the run."""


def standard_output() -> Console:
    """Return a console as wide as the terminal; a file or a pipe has room for every table.

    It shows texts as they are: names and reasons may hold brackets.
    """
    width_is_known = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = None if width_is_known else _WIDTH_OF_FILES
    return Console(width=width, markup=False, emoji=False)


def error_console() -> Console:
    """Return a console for progress, which shows texts as they are."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def seconds(value: float | None) -> str:
    """Return a time with three significant digits and its unit, or a dash."""
    if value is None:
        return "–"
    if value >= 1:
        return f"{value:.3g} s" if value < 1000 else f"{value:.0f} s"
    if value >= 1e-3:
        return f"{value * 1e3:.3g} ms"
    return f"{value * 1e6:.3g} µs"


def percent(value: float | None) -> str:
    """Return a share as a percentage, or a dash."""
    return "–" if value is None else f"{100 * value:.2f} %"


def make_table(title: str, *headings: str, numbers: Iterable[str] = ()) -> Table:
    """Make an empty table whose last columns, ``numbers``, are aligned to the right.

    A cell that is too wide continues on the next line: no digit is cut off.
    """
    table = Table(*headings, title=title, title_justify="left")
    for heading in numbers:
        table.add_column(heading, justify="right", overflow="fold")
    return table


class RunProgress(Observer):
    """Shows a bar of the whole run on a terminal, and writes a line for each epoch.

    Drawing happens between steps, so that no phase pays for it.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or error_console()
        self._bar = Progress(
            *Progress.get_default_columns(),
            MofNCompleteColumn(),
            console=self._console,
            auto_refresh=False,  # a thread would draw while something is timed
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("steps")
        self._drawn = 0.0

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()

    def prepared(self, summary: str, steps: int) -> None:
        """Print a line that stays, and begin the bar."""
        self._console.print(summary)
        self._bar.update(self._task, total=steps)
        self._bar.start()

    def step(self) -> None:
        """Redraw, but not for every step."""
        now = time.monotonic()
        redraws = now - self._drawn >= REDRAW_S
        self._bar.update(self._task, advance=1, refresh=redraws)
        self._drawn = now if redraws else self._drawn

    def epoch(self, record: EpochRecord) -> None:
        """Print a line that stays."""
        accuracy = record.test_accuracy
        tested = "" if accuracy is None else f", test accuracy {percent(accuracy)}"
        self._console.print(
            f"epoch {record.number}: {record.wall_s:.2f} s, training loss "
            f"{record.train_loss:.4f}, held-out loss {record.held_out_loss:.4f}{tested}"
        )


def show_run(result: RunResult, console: Console) -> None:
    """Print the phases and the time to accuracy of a run, or how good its forecasts are."""
    config, ranks = result.config, result.ranks
    title = (
        f"{result.command}: {config['model']} ({config['mode']}) on {config['data']}, batch "
        f"{config['batch_size']}, {config['precision']}, {len(ranks)} x {result.device_name}"
    )
    table = make_table(title, "phase", numbers=("median a step", "IQR", "total", "share"))
    for name, phase in ranks[0].phases.items():
        share = f"{100 * phase.total_s / ranks[0].total_wall_s:.1f} %"
        table.add_row(name, *map(seconds, (phase.median_s, phase.iqr_s, phase.total_s)), share)
    console.print(table)
    threads = f"{result.threads} thread{'s' * (result.threads > 1)}"
    console.print(
        f"measured steps: {ranks[0].steps}, {ranks[0].items_per_s:,.0f} items/s"
        f"{' on rank 0' if len(ranks) > 1 else ''}; with warm-up "
        f"{seconds(ranks[0].total_wall_s)}; {threads}",
        highlight=False,
    )
    if len(ranks) > 1:
        console.print(_ranks(ranks))
    _columns(result, console)
    if result.stopped:
        everything = f"--patience 0 trains all {config['epochs']}"
        console.print(f"{result.stopped}; {everything}", highlight=False)
    if result.forecast is not None:
        show_forecast(result.forecast, console)


def _ranks(ranks: list[RankTimes]) -> Table:
    title = f"medians over {len(ranks)} ranks"
    table = make_table(title, "phase", numbers=("slowest", "of rank", "mean", "spread"))
    for name in ranks[0].phases:
        medians = [rank.phases[name].median_s for rank in ranks]
        slowest = max(medians)
        table.add_row(
            name,
            seconds(slowest),
            str(ranks[medians.index(slowest)].rank),
            seconds(statistics.fmean(medians)),
            seconds(statistics.pstdev(medians)),
        )
    return table


def show_forecast(report: ForecastReport, console: Console) -> None:
    """Print the accuracy beside that of simple forecasts, and say whether the model is better."""
    epoch = "" if report.epoch is None else f", parameters of epoch {report.epoch}"
    title = f"test forecasts: {report.items} at horizon {report.horizon}{epoch}"
    table = make_table(title, "forecast", numbers=("RSE", "CORR", "RMSE", "MAE", "MAPE"))
    for name, accuracy in {"the model": report.model, **report.baselines}.items():
        shares = ("–" if x is None else f"{x:.4f}" for x in (accuracy.rse, accuracy.corr))
        errors = (f"{value:.4g}" for value in (accuracy.rmse, accuracy.mae))
        table.add_row(name, *shares, *errors, percent(accuracy.mape))
    console.print(table)
    console.print(report.in_words, highlight=False)


def _columns(result: RunResult, console: Console) -> None:
    columns = result.time_to_accuracy
    if columns is None:
        shown = "" if result.accuracy is None else f", accuracy {percent(result.accuracy)}"
        console.print(f"loss {result.loss:.4f}{shown}")
        return
    table = make_table("time to accuracy", "", numbers=[""])
    table.show_header = False
    if columns.target_accuracy is not None:
        target = f"to {percent(columns.target_accuracy)} on test"
        reached = columns.seconds_to_target
        table.add_row(f"time {target}", "not reached" if reached is None else seconds(reached))
        table.add_row(f"epochs {target}", str(columns.epochs_to_target or "–"))
    if columns.best_training_accuracy is not None:
        table.add_row("best training accuracy", percent(columns.best_training_accuracy))
        table.add_row("best test accuracy", percent(columns.best_test_accuracy))
    table.add_row("total data loading time", seconds(columns.data_loading_s))
    table.add_row("total epoch training time", seconds(columns.epoch_training_s))
    table.add_row("total training function time", seconds(columns.training_function_s))
    table.add_row("average training loss", f"{columns.average_training_loss:.4f}")
    console.print(table)
