"""The subcommand that handles stored results: check, merge and export them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

EXAMPLES = (
    "Examples: asv-watch results merge ../other-clone origin/results; "
    "asv-watch results export measurements.csv"
)


def results(
    action: Annotated[
        Literal["check", "merge", "export"],
        typer.Argument(
            help="check: name each fault of the files; merge: add results of folders and "
            "branches; export: write a table, a row for each measurement (.csv, .parquet)."
        ),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FOLDER | SOURCE... | FILE]",
            help="check: a folder other than asv.conf.json's; merge: sources; export: the file.",
        ),
    ] = None,
) -> int | None:
    """Check, merge or export the stored results."""
    from asv_watch.exchange import results_command as job

    names = names or []
    allowed = {
        "check": range(2),
        "merge": range(1, 1000),
        "export": range(1, 2),
    }
    if len(names) not in allowed[action]:
        wanted = {"check": "one folder at most", "merge": "the sources", "export": "one file"}
        raise typer.BadParameter(f"{action} takes {wanted.get(action, 'no name')}")
    root = Path.cwd()
    if action == "check":
        return job.check(root, *names)
    if action == "merge":
        job.merge(root, names)
    else:
        return job.export(root, names[0])
    return None
