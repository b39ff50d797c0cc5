"""Submits this machine's results: to a results repository, or to a Codespeed server."""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Annotated

import typer

from asv_watch.asv.machine_identity import check_machine_name
from asv_watch.asv.settings import load_settings
from asv_watch.checkout.workplace import load_results
from asv_watch.errors import WatchError
from asv_watch.exchange.codespeed import codespeed_results, send_to_codespeed
from asv_watch.exchange.submitting import push_branch, without_login
from asv_watch.exchange.table import measurements
from asv_watch.exit_status import ExitStatus
from asv_watch.machine.description import default_name
from asv_watch.options import Machine
from asv_watch.publish.command import report_damage


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
) -> ExitStatus:
    """Submit this machine's results to a results repository, or to a Codespeed server."""
    if bool(to) == bool(codespeed):
        raise typer.BadParameter("give --to or --codespeed")
    if to and every_commit:
        raise typer.BadParameter("--every-commit belongs to --codespeed, not to --to")
    root, name = Path.cwd(), machine or default_name()
    if to:
        return _submit_to_repository(root, to, name)
    return _submit_to_codespeed(root, codespeed, name, every_commit=every_commit)


def _submit_to_repository(root: Path, repository: str, name: str) -> ExitStatus:
    """Push a machine's results as a new branch, for a pull request.

    Raises:
        WatchError: there are no results, they are damaged, or the repository refuses them.
    """
    check_machine_name(name)
    now = datetime.datetime.now(datetime.UTC)
    plain = re.sub(r"[^\w-]+", "-", name)
    branch = f"results-{plain}-{now:%Y%m%dT%H%M%S}"
    merged = push_branch(Path(load_settings(root).results_dir), name, repository, branch)
    address = without_login(repository)
    if not (merged.added or merged.extended):
        print(f"{address} has all results of {name} already")
        return ExitStatus.DONE
    print(f"{merged}\nbranch {branch} is in {address}; open a pull request from it")
    return ExitStatus.DONE


def _submit_to_codespeed(root: Path, server: str, name: str, *, every_commit: bool) -> ExitStatus:
    """Send a machine's times to a Codespeed server, and name what of the results is damaged.

    Raises:
        WatchError: there are no times, or the server refuses them.
    """
    settings = load_settings(root)
    history = load_results(root)
    own = [measured for measured in measurements(history) if measured.machine == name]
    if not every_commit:
        measured_at = {measured.commit_hash for measured in own if measured.value is not None}
        newest = [commit.hash for commit in history.commits if commit.hash in measured_at][-1:]
        own = [measured for measured in own if measured.commit_hash in newest]
    branch = str(settings.branches[0])
    results = list(codespeed_results(own, project=str(settings.project), branch=branch))
    if not results:
        raise WatchError(f"no time of machine {name!r} is stored; measure, or give --machine")
    print(f"{len(results)} results: {send_to_codespeed(server, results)}")
    return report_damage(history)
