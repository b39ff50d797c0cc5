"""``torchspeed compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from torchspeed.cli import watch_options as o

_COMMIT = "COMMIT[@RELEASE]"


def compare(
    *,
    before: Annotated[
        str, typer.Option(metavar=_COMMIT, help="The baseline; . is the working tree.")
    ] = "HEAD~1",
    after: Annotated[
        str, typer.Option(metavar=_COMMIT, help="What is compared with the baseline.")
    ] = "HEAD",
    fail_if_slower: Annotated[
        bool, typer.Option("--fail-if-slower", help="Exit with status 4 if a case got slower.")
    ] = False,
    cases: o.Cases = "",
    torch: o.Torch = "newest",
    machine: o.Machine = "",
) -> int:
    """Compare two commits or torch releases, with interleaved rounds."""
    from torchspeed.watch.jobs.compare import compare as job

    return job(
        Path.cwd(),
        before=before,
        after=after,
        torch=torch,
        machine=machine,
        cases=cases,
        fail_if_slower=fail_if_slower,
    )
