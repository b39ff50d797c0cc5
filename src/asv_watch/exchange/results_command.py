"""Checks, merges and exports the stored results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from asv_watch.asv.settings import (
    allowed_machines,
    environments_folder,
    results_folder,
    tracked_commits,
)
from asv_watch.exchange.checking import check_results
from asv_watch.exchange.merging import merge_results
from asv_watch.exchange.sources import results_in
from asv_watch.exchange.table import write_table
from asv_watch.exit_status import ExitStatus
from asv_watch.machine.lock import exclusive_run
from asv_watch.publish.damage import report_damage
from asv_watch.records.loading import load_history


def check(root: Path, folder: str = "") -> ExitStatus:
    """Print every fault of a folder of results.

    Args:
        root: the checkout.
        folder: results; those that asv.conf.json names if empty.

    Raises:
        WatchError: there is no such folder, or asv.conf.json cannot be read.
    """
    results = Path(folder) if folder else results_folder(root)
    faults = check_results(results, allowed_machines(root))
    for fault in faults:
        print(f"{fault.path}: {fault.message}")
    print(f"{len(faults) or 'no'} fault{'' if len(faults) == 1 else 's'} in {results}")
    return ExitStatus.FAILED if faults else ExitStatus.DONE


def merge(root: Path, sources: Sequence[str]) -> None:
    """Add the results of folders and branches to those of the checkout.

    Raises:
        WatchError: a source is missing or damaged; those before it are merged. Or something
            is measuring in the checkout: it would write what it knew before over what was merged.
    """
    target, machines = results_folder(root), allowed_machines(root)
    with exclusive_run(environments_folder(root), "results merge"):
        for source in sources:
            with results_in(source, root) as results:
                print(f"{source}: {merge_results(results, target, machines)}", flush=True)


def export(root: Path, file: str) -> ExitStatus:
    """Write a table with a row for each measurement; the name's ending says in which format.

    What of the results is damaged is named, and not in the table.

    Raises:
        WatchError: the results cannot be read, or the ending names no format.
    """
    history = load_history(results_folder(root), tracked_commits(root))
    count = write_table(history, Path(file))
    print(f"{count} measurements in {file}")
    return report_damage(history)
