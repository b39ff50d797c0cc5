"""``torchspeed nightly``."""

from __future__ import annotations

from pathlib import Path

from torchspeed.cli import watch_options as o


def nightly(*, cases: o.Cases = "", machine: o.Machine = "") -> int:
    """Measure every commit of main that is not measured yet, and publish the site."""
    from torchspeed.watch.jobs.nightly import nightly as job

    return job(Path.cwd(), machine=machine, cases=cases)
