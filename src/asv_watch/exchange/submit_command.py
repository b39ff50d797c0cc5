"""Submits this machine's results: to a results repository, or to a Codespeed server."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

from asv_watch.asv.machine_identity import check_machine_name
from asv_watch.asv.settings import load_settings, results_folder, tracked_commits
from asv_watch.errors import WatchError
from asv_watch.exchange.codespeed import codespeed_results, send_to_codespeed
from asv_watch.exchange.submitting import push_branch, without_login
from asv_watch.exchange.table import measurements
from asv_watch.exit_status import ExitStatus
from asv_watch.machine.description import default_name
from asv_watch.publish.damage import report_damage
from asv_watch.records.loading import load_history


def submit_to_repository(root: Path, repository: str, *, machine: str) -> ExitStatus:
    """Push this machine's results as a new branch, for a pull request.

    Args:
        root: the checkout.
        repository: path or address of the results repository.
        machine: whose results; the host's if empty.

    Raises:
        WatchError: there are no results, they are damaged, or the repository refuses them.
    """
    name = machine or default_name()
    check_machine_name(name)
    now = datetime.datetime.now(datetime.UTC)
    plain = re.sub(r"[^\w-]+", "-", name)
    branch = f"results-{plain}-{now:%Y%m%dT%H%M%S}"
    merged = push_branch(results_folder(root), name, repository, branch)
    address = without_login(repository)
    if not (merged.added or merged.extended):
        print(f"{address} has all results of {name} already")
        return ExitStatus.DONE
    print(f"{merged}\nbranch {branch} is in {address}; open a pull request from it")
    return ExitStatus.DONE


def submit_to_codespeed(
    root: Path, server: str, *, machine: str, every_commit: bool
) -> ExitStatus:
    """Send this machine's times to a Codespeed server, and name what of the results is damaged.

    Args:
        root: the checkout.
        server: its address.
        machine: whose times; the host's if empty.
        every_commit: of all commits, not only of the newest one measured.

    Raises:
        WatchError: there are no times, or the server refuses them.
    """
    name = machine or default_name()
    settings = load_settings(root)
    commits = tracked_commits(root)
    history = load_history(results_folder(root), commits)
    own = [measured for measured in measurements(history) if measured.machine == name]
    if not every_commit:
        measured_at = {measured.commit_hash for measured in own if measured.value is not None}
        newest = [commit.hash for commit in commits if commit.hash in measured_at][-1:]
        own = [measured for measured in own if measured.commit_hash in newest]
    branch = str(settings.branches[0])
    results = list(codespeed_results(own, project=str(settings.project), branch=branch))
    if not results:
        raise WatchError(f"no time of machine {name!r} is stored; measure, or give --machine")
    print(f"{len(results)} results: {send_to_codespeed(server, results)}")
    return report_damage(history)
