"""``torchspeed calibrate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from torchspeed.cli import watch_options as o


def calibrate(
    *,
    runs: Annotated[int, typer.Option(min=2, help="Runs of HEAD, one after the other.")] = 3,
    comparisons: Annotated[
        int, typer.Option(min=0, help="Interleaved comparisons of HEAD with itself, afterwards.")
    ] = 2,
    cases: o.Cases = "",
    torch: o.Torch = "newest",
    machine: o.Machine = "",
) -> None:
    """Measure HEAD against itself: how noisy this machine is, and why."""
    from torchspeed.watch.jobs.calibrate import calibrate as job

    job(Path.cwd(), runs=runs, comparisons=comparisons, torch=torch, machine=machine, cases=cases)
