"""``torchspeed reference``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from torchspeed.cli import watch_options as o


def reference(
    *,
    commit: Annotated[str, typer.Option(help="The commit to measure.")] = "HEAD",
    renew: Annotated[
        str,
        typer.Option(
            metavar="COMMIT@RELEASE",
            help="Measure a new reference against the old one, and name it in asv.conf.json.",
        ),
    ] = "",
    full: Annotated[bool, typer.Option("--full", help="Every case, not the short set.")] = False,
    cases: o.Cases = "",
    torch: o.Torch = "newest",
    machine: o.Machine = "",
) -> int:
    """Measure a commit interleaved with the reference that asv.conf.json names."""
    from torchspeed.watch.jobs.reference import reference as job

    return job(
        Path.cwd(),
        commit=commit,
        renew=renew,
        torch=torch,
        machine=machine,
        cases=cases,
        full=full,
    )
