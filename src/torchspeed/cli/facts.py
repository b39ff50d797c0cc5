"""The machine, versions and devices that results come from."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata

import cpuinfo
import psutil
import torch

_GIB = 1024**3


@cache
def facts() -> dict[str, str]:
    """Machine, versions and devices, as text by name; asking the CPU takes a second, once."""
    known = {
        "os": platform.system(),
        "arch": platform.machine(),
        "cpu": str(cpuinfo.get_cpu_info().get("brand_raw", "unknown")),
        "ram": f"{round(psutil.virtual_memory().total / _GIB)} GiB",
        "python": platform.python_version(),
    }
    for package in ("torch", "torchvision"):
        known[package] = metadata.version(package)
    known["physical cores"] = str(psutil.cpu_count(logical=False))
    known["threads"] = str(torch.get_num_threads())
    known["cuda"] = torch.version.cuda or "not in this build"
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    known["gpus"] = ", ".join(torch.cuda.get_device_name(n) for n in range(count)) or "none"
    return known
