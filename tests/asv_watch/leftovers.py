"""Processes that a measurement of a project has left running."""

from __future__ import annotations

from pathlib import Path

import psutil


def measured_processes(project: Path) -> list[str]:
    """Command lines of measured processes, and of what they started, that still run."""
    lines = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or ())
        is_alive = process.info["status"] != psutil.STATUS_ZOMBIE
        if str(project) in line and "measure.py" in line and is_alive:
            lines.append(line)
    return lines
