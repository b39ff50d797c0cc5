"""Writes the site from the stored results."""

from __future__ import annotations

import os
from pathlib import Path

from asv_watch.asv.commands import run_asv
from asv_watch.asv.settings import read_configuration
from asv_watch.progress import Progress


def publish(root: Path) -> None:
    """Replace the site by one of all stored results, and say where it is.

    Raises:
        WatchError: it cannot be written; the old site stays.
    """
    site = read_configuration(root).site
    print("publishing", flush=True)
    run_asv(root, ["publish", "--no-pull"], Progress({}))
    preview = "make preview" if (root / "Makefile").is_file() else "asv-watch preview"
    print(f"the site is in {os.path.relpath(site, root)}/: look at it with `{preview}`")
