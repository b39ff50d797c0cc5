"""Tells asv which machine this is, without a prompt and without ``~/.asv-machine.json``.

asv rewrites that file, which all checkouts share, in every run, so that two runs at once can
damage it. Here it is only asked for the name that a person may have given the machine.
"""

from __future__ import annotations

import re
from typing import Any

import asv.util

from asv_watch.errors import WatchError
from asv_watch.machine.description import describe

_NAME = re.compile(r"\w[\w.+ @-]{0,99}")


def check_machine_name(name: str) -> None:
    """Refuse a name that cannot name a folder of results.

    Raises:
        WatchError: Says what is allowed.
    """
    if not _NAME.fullmatch(name):
        raise WatchError(
            f"machine name {name[:100]!r} cannot name a folder of results; use at most 100 "
            "letters, digits and '-'"
        )


_loaded: list[str] = []
"""Names of the machines that asv loaded in this process, oldest first."""


def this_machine() -> str:
    """Return the machine that asv loaded last, which is the one that it measures for."""
    return _loaded[-1]


def loading(original: Any) -> Any:
    """Replace ``MachineCollection.load``: facts are read from this machine now."""

    def load(machine_name: str, _path: str | None = None) -> dict[str, str]:
        try:
            registered = original(machine_name, _path)["machine"]
        except (asv.util.UserError, LookupError, TypeError, ValueError, OSError):
            registered = machine_name
        check_machine_name(registered)
        _loaded.append(registered)
        return {"machine": registered, **describe()}

    return load


def save(machine_name: str, machine_info: dict[str, str], _path: str | None = None) -> None:
    """Write nothing, in the place of ``MachineCollection.save``: all checkouts share its file."""
