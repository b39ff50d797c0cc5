"""How many CPU threads a run takes: this machine's cores, shared with the runs beside it.

Threads of one operator wait for each other, so two runs with a thread for every core are far
slower than two with half as many. Every run binds a Unix socket in Linux's abstract namespace: it
is no file, the kernel lists it, and it is gone when the process ends, however it ends. A command
announces itself before it imports torch, which takes seconds, and counts the others after that, so
that commands which start together see each other.
"""

from __future__ import annotations

import os
import socket
import sys
from functools import cache
from pathlib import Path
from uuid import uuid4

BUSY_CORES = 0.5
"""Cores that other processes may use, of those that a run needs, before it warns."""

_NAME = "torchspeed-run-"


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def shared_threads(ranks: int = 1) -> int | None:
    """Return the threads of each rank of this run, or None where ``OMP_NUM_THREADS`` decides."""
    if "OMP_NUM_THREADS" in os.environ:
        return None
    return max(1, cores() // (runs_here() * ranks))


def runs_here() -> int:
    """Count the runs on this machine that announced themselves; at least this one.

    Elsewhere than on Linux, and across network namespaces, a run sees itself alone.
    """
    if sys.platform != "linux":
        return 1
    return max(1, Path("/proc/net/unix").read_text(encoding="utf-8").count(f"@{_NAME}"))


@cache
def announce_run() -> socket.socket | None:
    """Let other runs count this process until it ends; further calls change nothing."""
    if sys.platform != "linux":
        return None
    announced = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    announced.bind(f"\0{_NAME}{uuid4()}")
    return announced


def load_warning(threads: int, ranks: int = 1) -> str | None:
    """Warn that other processes leave too few cores for the threads; None if they do not.

    Takes a fifth of a second, in which this process does nothing.
    """
    import psutil  # noqa: PLC0415 - optional: measured environments have none

    if threads == 1:
        return None
    busy = cores() * psutil.cpu_percent(interval=0.2) / 100
    free = cores() - busy
    if threads * ranks <= free + BUSY_CORES:
        return None
    return (
        f"other processes use {busy:.1f} of {cores()} cores, and {threads} threads that wait for "
        f"each other may take many times as long; consider --threads {max(1, int(free / ranks))}"
    )
