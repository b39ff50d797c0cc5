"""The memory that a measured case may use.

A case that exceeds the limit is stopped, before the kernel ends processes of its own choice. The
limit of a container (cgroup v1 or v2) counts where it is lower than the memory of the machine.
"""

import contextlib
import math
import os
from collections.abc import Iterator
from pathlib import Path

import psutil

from asv_watch.errors import WatchError

MEMORY_LIMIT = "ASV_WATCH_MEMORY_LIMIT_GIB"
"""Environment variable: memory that a case may use, in GiB."""
GIB = 1024**3
_SHARE_OF_MEMORY = 0.9
"""Default limit as a share of the memory, for all sides together."""
_CGROUPS = Path("/sys/fs/cgroup")


def memory_limit(sides: int = 1) -> float:
    """Return the memory in bytes that the process of a case may use, with its children.

    Args:
        sides: how many such processes run at the same time.

    Raises:
        WatchError: the environment variable is no number above 0.
    """
    text = os.environ.get(MEMORY_LIMIT)
    if text is None:
        return _SHARE_OF_MEMORY * available_memory() / sides
    try:
        limit = float(text)
    except ValueError:
        limit = math.nan
    if not limit > 0:
        raise WatchError(
            f"{MEMORY_LIMIT} is {text!r}; give a number of GiB above 0, or leave it out"
        )
    return limit * GIB


def available_memory(cgroups: Path = _CGROUPS, own: Path = Path("/proc/self/cgroup")) -> float:
    """Return the memory in bytes of this machine, or of the container that this process is in."""
    return min([float(psutil.virtual_memory().total), *_cgroup_limits(cgroups, own)])


def _cgroup_limits(cgroups: Path, own: Path) -> Iterator[float]:
    """Yield the limits of this process's cgroup and of those around it.

    A container may see itself as the root of the tree, whatever ``/proc/self/cgroup`` calls it.
    """
    try:
        lines = own.read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:  # version 2
            root, name = cgroups, "memory.max"
        elif "memory" in controllers.split(","):
            root, name = cgroups / "memory", "memory.limit_in_bytes"
        else:
            continue
        inner = root / path.lstrip("/")
        for folder in {root, inner, *inner.parents}:
            if folder.is_relative_to(root):
                with contextlib.suppress(OSError, ValueError):  # "max" is no number
                    yield float((folder / name).read_text(encoding="utf-8"))


def memory_of(pid: int) -> int:
    """Resident memory of a process and its descendants, in bytes; 0 once it has ended."""
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0
    total = 0
    for member in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            total += member.memory_info().rss
    return total


def end_largest_child(pid: int) -> bool:
    """Kill the child of a process that uses most memory, with its descendants.

    Returns:
        Whether the process had a child.
    """
    try:
        child = max(psutil.Process(pid).children(), key=lambda child: memory_of(child.pid))
        for member in (*child.children(recursive=True), child):
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
    except (psutil.NoSuchProcess, ValueError):
        return False
    return True


def limit_in_words(limit: float) -> str:
    """Say that a case was stopped at a limit in bytes."""
    return (
        f"it used more than {limit / GIB:.3g} GiB of memory and was stopped; {MEMORY_LIMIT} sets "
        "the limit"
    )
