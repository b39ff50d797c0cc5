"""What asv keeps of a machine: its name, processor and memory."""

from __future__ import annotations

import functools
import platform
from collections.abc import Mapping
from typing import Any

import cpuinfo
import psutil

_GIB = 1024**3


@functools.cache
def cpu_description() -> Mapping[str, Any]:
    """What py-cpuinfo says of the processor; it takes a process and half a second to find out."""
    description: dict[str, Any] = cpuinfo.get_cpu_info()
    return description


def describe() -> dict[str, str]:
    """The facts that asv keeps of a machine.

    The kernel's version is left out on purpose: asv makes these facts part of
    a series' identity, and a kernel update must not start a new one.
    """
    return {
        "os": platform.system(),
        "arch": platform.machine(),
        "cpu": str(cpu_description().get("brand_raw", "unknown")),
        "num_cpu": str(psutil.cpu_count()),
        "ram": f"{round(psutil.virtual_memory().total / _GIB)} GiB",
    }


def default_name() -> str:
    """This machine's name where none is given: its host name."""
    return platform.node()
