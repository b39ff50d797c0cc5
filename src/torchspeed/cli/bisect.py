"""``torchspeed bisect``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from torchspeed.cli import watch_options as o

_SIDE = "COMMIT[@RELEASE]"


def bisect(
    *,
    cases: Annotated[
        str, typer.Option(metavar="PATTERN", help="A regular expression that matches one case.")
    ],
    before: Annotated[str, typer.Option(metavar=_SIDE, help="Where the range begins.")],
    after: Annotated[
        str,
        typer.Option(
            metavar=_SIDE, help="Where it ends: a later commit, or another torch release."
        ),
    ] = "HEAD",
    machine: o.Machine = "",
) -> int:
    """Find the commit, or the torch release, that changed the time of a case."""
    from torchspeed.watch.jobs.bisect import bisect as job

    return job(Path.cwd(), before=before, after=after, cases=cases, machine=machine)
