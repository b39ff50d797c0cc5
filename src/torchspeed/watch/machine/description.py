"""What asv keeps of a machine: its name, processor and memory."""

from __future__ import annotations

import platform

import cpuinfo
import psutil

_GIB = 1024**3


def describe() -> dict[str, str]:
    """The facts that asv keeps of a machine.

    The kernel's version is left out on purpose: asv makes these facts part of
    a series' identity, and a kernel update must not start a new one.
    """
    return {
        "os": platform.system(),
        "arch": platform.machine(),
        "cpu": str(cpuinfo.get_cpu_info().get("brand_raw", "unknown")),
        "num_cpu": str(psutil.cpu_count()),
        "ram": f"{round(psutil.virtual_memory().total / _GIB)} GiB",
    }


def default_name() -> str:
    """This machine's name where none is given: its host name."""
    return platform.node()
