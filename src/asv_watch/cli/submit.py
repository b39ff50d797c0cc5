"""The subcommand that submits a machine's results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from asv_watch.cli.watch import Machine

EXAMPLES = (
    "Examples: asv-watch submit --to git@example.org:me/results.git; "
    "asv-watch submit --codespeed https://speed.example.org"
)


def submit(
    *,
    to: Annotated[
        str,
        typer.Option(
            metavar="REPOSITORY",
            help="Push a branch with this machine's results there, for a pull request.",
        ),
    ] = "",
    codespeed: Annotated[
        str, typer.Option(metavar="URL", help="Send this machine's times to a Codespeed server.")
    ] = "",
    every_commit: Annotated[
        bool, typer.Option("--every-commit", help="Send all commits to Codespeed, not the newest.")
    ] = False,
    machine: Machine = "",
) -> int:
    """Submit this machine's results to a results repository, or to a Codespeed server."""
    from asv_watch.exchange import submit_command as job

    if bool(to) == bool(codespeed):
        raise typer.BadParameter("give --to or --codespeed")
    if to and every_commit:
        raise typer.BadParameter("--every-commit belongs to --codespeed, not to --to")
    if to:
        return job.submit_to_repository(Path.cwd(), to, machine=machine)
    return job.submit_to_codespeed(
        Path.cwd(), codespeed, machine=machine, every_commit=every_commit
    )
