"""What asv keeps of a machine: its name, processor and memory."""

from __future__ import annotations

import functools
import platform
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cpuinfo
import psutil

_GIB = 1024**3
_CPUINFO = Path("/proc/cpuinfo")
_LINUX = {
    "model name": "brand_raw",
    "cpu family": "family",
    "model": "model",
    "stepping": "stepping",
}
"""Field of `_CPUINFO` to py-cpuinfo's name for it."""


@functools.cache
def cpu_description() -> Mapping[str, Any]:
    """Describe the processor as py-cpuinfo does: at least its brand, family, model and stepping.

    On x86, Linux has these in a file. Elsewhere py-cpuinfo is asked, which takes more than a
    second because it measures the clock's frequency.
    """
    text = _CPUINFO.read_text(errors="replace") if _CPUINFO.exists() else ""
    fields = dict(re.findall(r"^(.+?)\s*: (.*)$", text, re.MULTILINE))
    if _LINUX.keys() <= fields.keys():
        return {name: fields[field] for field, name in _LINUX.items()}
    description: dict[str, Any] = cpuinfo.get_cpu_info()
    return description


def describe() -> dict[str, str]:
    """Return the facts that asv keeps of a machine.

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
