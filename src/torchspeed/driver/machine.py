"""Tells asv which machine this is, without a prompt."""

from __future__ import annotations

import platform
import subprocess
import sys

import cpuinfo
import psutil

from torchspeed.errors import TorchspeedError

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


def register(name: str) -> None:
    """Write this machine down for asv, in ``~/.asv-machine.json``.

    Raises:
        TorchspeedError: the name cannot be a folder's, or asv refused.
    """
    if not name or "/" in name or name.startswith((".", "-")):
        raise TorchspeedError(
            f"machine name {name!r} cannot name a folder of results; use letters, digits and '-'"
        )
    facts = {"machine": name, **describe()}
    arguments = [part for key, value in facts.items() for part in (f"--{key}", value)]
    done = subprocess.run(
        [sys.executable, "-m", "asv", "machine", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        last = (done.stdout + done.stderr).strip().splitlines()[-1:]
        raise TorchspeedError(
            f"asv could not register machine {name!r} ({''.join(last)}); "
            "is ~/.asv-machine.json writable and valid JSON?"
        )
