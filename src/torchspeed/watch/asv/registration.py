"""Tells asv which machine this is, without a prompt."""

from __future__ import annotations

import asv.machine
import asv.util

from torchspeed.errors import TorchspeedError
from torchspeed.watch.machine.description import describe


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
