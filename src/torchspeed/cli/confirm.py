"""``torchspeed confirm``."""

from __future__ import annotations

from pathlib import Path

from torchspeed.cli import watch_options as o


def confirm(*, machine: o.Machine = "") -> int:
    """Measure suspected changes again, interleaved with the commit before them."""
    from torchspeed.watch.jobs.confirm import confirm as job

    return job(Path.cwd(), machine=machine)
