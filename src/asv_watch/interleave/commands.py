"""Runs a command whose output is its answer."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Any

from asv_watch.asv.commands import find_cause
from asv_watch.errors import PlaceError, WatchError


def run_command(command: Sequence[str], timeout_s: float, **options: Any) -> str:
    """Run a command and return what it printed.

    Args:
        command: the program and its arguments.
        timeout_s: seconds after which it is ended.
        options: of `subprocess.run`, such as ``cwd``.

    Raises:
        PlaceError: it took too long, or failed because of the place.
        WatchError: it failed otherwise.
    """
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout_s, check=False, **options
        )
    except subprocess.TimeoutExpired:
        raise PlaceError(f"no answer after {timeout_s:g} s; try again later") from None
    if process.returncode:
        cause = find_cause(process.stderr)
        raise (PlaceError if cause.is_place else WatchError)(cause.reason)
    return str(process.stdout)
