"""Tells the process that watches an ``asv run`` what will run and what ran, in lines of JSON."""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any


def send(message: dict[str, Any]) -> None:
    """Write one line to the file that ``ASV_WATCH_PROGRESS`` names, if it names one."""
    progress = os.environ.get("ASV_WATCH_PROGRESS")
    if progress:
        # A watching process that has gone does not end the run.
        with contextlib.suppress(OSError), open(progress, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(message) + "\n")
