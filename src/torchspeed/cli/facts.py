"""Where figures come from: machine, versions, devices."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata

import torch

from torchspeed.watch.machine.description import describe


@cache
def facts() -> dict[str, str]:
    """Machine, versions and devices, as text by name; asking the CPU takes a second, once."""
    found = describe()
    found["python"] = platform.python_version()
    for package in ("torch", "torchvision"):
        found[package] = metadata.version(package)
    found["threads"] = str(torch.get_num_threads())
    found["cuda"] = torch.version.cuda or "not in this build"
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    found["gpus"] = ", ".join(torch.cuda.get_device_name(n) for n in range(count)) or "none"
    return found
