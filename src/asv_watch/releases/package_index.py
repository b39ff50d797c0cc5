"""Asks the package index, through pip, which releases of a requirement exist."""

from __future__ import annotations

import re
import sys

from asv_watch.asv.commands import run_command
from asv_watch.errors import MachineError

_TIMEOUT = 60  # s
_FINAL = re.compile(r"^\d+(\.\d+)*$")


def published_releases(requirement: str, python: str) -> list[str]:
    """Ask which releases there are, the newest first, without local builds such as +cpu.

    Args:
        requirement: such as ``numpy``.
        python: version of Python for which they are published, such as ``3.11``.

    Raises:
        MachineError: the index cannot be reached, or takes too long.
        WatchError: it does not know the requirement.
    """
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    asked = ["index", "versions", requirement, "--python-version", python]
    printed = run_command([*pip, *asked], _TIMEOUT, late=MachineError)
    listed = re.search(r"^Available versions: (.*)$", printed, re.M)
    versions = listed[1].split(", ") if listed else []
    return [version for version in versions if _FINAL.match(version)]


def exactly(name: str, release: str) -> str:
    """Return how pip is asked for the published wheel of a release, and for no local build."""
    return f"{name.removeprefix('pip+')}==={release}" if release else name.removeprefix("pip+")
