"""``torchspeed bench``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from torchspeed.cli import watch_options as o


def bench(
    *,
    full: Annotated[
        bool, typer.Option("--full", help="Measure every case, not the short set.")
    ] = False,
    cases: o.Cases = "",
    torch: o.Torch = "newest",
    machine: o.Machine = "",
) -> int:
    """Measure what is missing of HEAD, and publish the site."""
    from torchspeed.watch.jobs.bench import bench as job

    return job(Path.cwd(), torch=torch, machine=machine, cases=cases, full=full)
