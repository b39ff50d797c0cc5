"""Processes that a measurement of a project has left running."""

from __future__ import annotations

import time
from pathlib import Path

import psutil


def runs(pid: int) -> bool:
    """Return whether a process still runs."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def measured_processes(project: Path) -> list[str]:
    """Command lines of measured processes, and of what they started, that still run."""
    lines = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or ())
        is_alive = process.info["status"] != psutil.STATUS_ZOMBIE
        if str(project) in line and "measure.py" in line and is_alive:
            lines.append(line)
    return lines


def wait_until_none_is_left(project: Path, seconds: float = 30.0) -> None:
    """Wait for the end of all measured processes, and fail if one still runs after so long."""
    deadline = time.monotonic() + seconds
    while left := measured_processes(project):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)
