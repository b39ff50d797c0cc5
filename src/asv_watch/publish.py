"""Writes the site from the stored results, and prints changes to hand on."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from asv_watch.asv.commands import run_asv
from asv_watch.asv.settings import read_configuration
from asv_watch.errors import ExitStatus
from asv_watch.judge.findings import analyse
from asv_watch.records.history import History
from asv_watch.site.contents import ancestry_of, contents_of, in_order
from asv_watch.site.report import write_report
from asv_watch.workplace import check_checkout, load_results


def publish() -> None:
    """Replace the site by one of all stored results, and say where it is.

    Raises:
        WatchError: it cannot be written; the old site stays.
    """
    root = Path.cwd()
    site = read_configuration(root).site
    print("publishing", flush=True)
    run_asv(root, "publish", "--no-pull")
    print(f"the site is in {os.path.relpath(site, root)}/: open its index.html")


def report(
    *,
    markup: Annotated[
        Literal["markdown", "text"],
        typer.Option("--as", help="Markdown for an issue, or plain text for an e-mail."),
    ] = "markdown",
    state: Annotated[
        Literal["measured", "suspected", "all"], typer.Option(help="Which changes to print.")
    ] = "all",
    count: Annotated[
        int, typer.Option(min=1, help="Largest number of changes to print, newest first.")
    ] = 10,
    machine: Annotated[
        str, typer.Option(metavar="NAME", help="Only changes of this machine.")
    ] = "",
) -> ExitStatus:
    """Print changes, those of the newest commits first, and what of the results is damaged.

    Raises:
        WatchError: there is no checkout, or nothing was ever measured.
    """
    root = Path.cwd()
    check_checkout(root)
    configuration = read_configuration(root)
    history = in_order(load_results(root))
    findings = analyse(history)
    changes = [
        change
        for change in findings.changes
        if state in {"all", change.state}
        and machine in {"", history.series[change.series].machine}
    ]
    ancestry = ancestry_of(
        history, findings, configuration.repository, configuration.measured_paths
    )
    contents = contents_of(history, findings, ancestry)
    print(write_report(contents, changes[:count], markup) or "no change to report")
    return report_damage(history)


def report_damage(history: History) -> ExitStatus:
    """Print what was left out of a history because it is damaged, and return the exit status."""
    for problem in history.problems:
        print(f"left out: {problem.path}: {problem.message}", file=sys.stderr)
    return ExitStatus.SOME_CASES_FAILED if history.problems else ExitStatus.DONE
