"""``torchspeed nightly``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from torchspeed.cli import watch_options as o


def nightly(
    *,
    budget: Annotated[
        str, typer.Option(metavar="TIME", help="Time for measuring, such as 4h or 90min.")
    ] = "4h",
    cases: o.Cases = "",
    torch: o.Torch = "all",
    machine: o.Machine = "",
) -> int:
    """Measure every commit that is not measured yet, most urgent first, and publish the site."""
    from torchspeed.watch.jobs.nightly import nightly as job

    return job(Path.cwd(), torch=torch, machine=machine, cases=cases, budget=budget)
