"""``torchspeed explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from torchspeed.cli import watch_options as o

_SIDE = "COMMIT[@RELEASE]"


def explain(
    *,
    cases: Annotated[
        str, typer.Option(metavar="PATTERN", help="A regular expression that matches one case.")
    ],
    before: Annotated[
        str, typer.Option(metavar=_SIDE, help="The baseline; . is the working tree.")
    ] = "HEAD~1",
    after: Annotated[
        str, typer.Option(metavar=_SIDE, help="What is compared with the baseline.")
    ] = "HEAD",
    torch: o.Torch = "newest",
    machine: o.Machine = "",
) -> int:
    """Name the operators and oneDNN kernels that account for a difference."""
    from torchspeed.watch.jobs.explain import explain as job

    return job(Path.cwd(), before=before, after=after, torch=torch, cases=cases, machine=machine)
