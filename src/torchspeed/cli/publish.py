"""``torchspeed publish``."""

from __future__ import annotations

from pathlib import Path


def publish() -> None:
    """Write the site from the stored results."""
    from torchspeed.watch.jobs.publish import publish as job

    job(Path.cwd())
