"""Checks, merges and exports the stored results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from asv_watch.asv.settings import load_settings
from asv_watch.engine.workplace import load_results
from asv_watch.errors import ExitStatus
from asv_watch.exchange.checking import check_results
from asv_watch.exchange.merging import merge_results
from asv_watch.exchange.sources import results_in
from asv_watch.exchange.table import check_table, write_table
from asv_watch.machine.lock import exclusive_run
from asv_watch.publish import report_damage

_NAMES = {
    "check": (range(2), "one folder at most"),
    "merge": (range(1, 1000), "the sources"),
    "export": (range(1, 2), "one file"),
}
"""Maps an action to its number of names."""


def results(
    action: Annotated[
        Literal["check", "merge", "export"],
        typer.Argument(
            help="check: name each fault in the files; merge: add results of folders and "
            "branches; export: write a table (.csv) with a row for each measurement."
        ),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FOLDER | SOURCE... | FILE]",
            help="check: a folder other than asv.conf.json's; merge: folders and branches; "
            "export: the file.",
        ),
    ] = None,
) -> ExitStatus:
    """Check, merge or export the stored results."""
    root, names = Path.cwd(), names or []
    numbers, wanted = _NAMES[action]
    if len(names) not in numbers:
        raise typer.BadParameter(f"{action} takes {wanted}")
    if action == "check":
        return _check(root, *names)
    return _merge(root, names) if action == "merge" else _export(root, names[0])


def _check(root: Path, folder: str = "") -> ExitStatus:
    """Print every fault of a folder of results, or of those that asv.conf.json names."""
    conf = load_settings(root)
    checked = Path(folder or conf.results_dir)
    faults = check_results(checked, conf.declared.machines)
    for fault in faults:
        print(f"{fault.path}: {fault.message}")
    print(f"{len(faults) or 'no'} fault{'' if len(faults) == 1 else 's'} in {checked}")
    return ExitStatus.FAILED if faults else ExitStatus.DONE


def _merge(root: Path, sources: Sequence[str]) -> ExitStatus:
    """Add the results of folders and branches to those of the checkout.

    Raises:
        WatchError: a source is missing or damaged; those before it are merged. Or a run measures
            in the checkout: it would overwrite what was merged.
    """
    conf = load_settings(root)
    target, machines = Path(conf.results_dir), conf.declared.machines
    with exclusive_run(Path(conf.env_dir), "results merge"):
        for source in sources:
            with results_in(source, root) as folder:
                print(f"{source}: {merge_results(folder, target, machines)}", flush=True)
    return ExitStatus.DONE


def _export(root: Path, file: str) -> ExitStatus:
    """Write a table with a row for each measurement.

    Damaged results are named, and are not in the table.
    """
    check_table(Path(file))
    history = load_results(root)
    count = write_table(history, Path(file))
    print(f"{count} measurements in {file}")
    return report_damage(history)
