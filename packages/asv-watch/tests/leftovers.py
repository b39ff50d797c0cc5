"""Processes that a measurement of a project has left running."""

import time
from collections.abc import Callable
from pathlib import Path

import psutil

DETACHES = """
import os, sys

if not os.fork():
    os.setsid()
    if os.fork():
        os._exit(0)
    print(os.getpid(), flush=True)
    os.close(1)
    os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)"], {})
os.wait()
"""
"""A program whose grandchild leaves its parent, session and environment; prints its id."""


def wait_until(is_so: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Wait until something is so; return whether it was after so long."""
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def runs(pid: int) -> bool:
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


def wait_until_none_is_left(project: Path) -> None:
    """Wait for the end of all measured processes, and fail if one still runs after 30 s."""
    is_over = wait_until(lambda: not measured_processes(project), 30.0)
    assert is_over, measured_processes(project)
