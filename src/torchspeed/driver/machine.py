"""Tells asv which machine this is, without a prompt."""

from __future__ import annotations

import platform

import asv.machine
import asv.util
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
        TorchspeedError: the name cannot be a folder's, or asv's file cannot be written.
    """
    if not name or "/" in name or name.startswith((".", "-")):
        raise TorchspeedError(
            f"machine name {name!r} cannot name a folder of results; use letters, digits and '-'"
        )
    try:
        asv.machine.MachineCollection.save(name, {"machine": name, **describe()})
    except (OSError, asv.util.UserError, ValueError) as error:
        path = asv.machine.MachineCollection.get_machine_file_path()
        raise TorchspeedError(
            f"machine {name!r} cannot be written to {path} ({error}); "
            "make the file writable, or remove it if it is damaged"
        ) from error
