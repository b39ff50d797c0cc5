"""Runs a command whose output is its answer."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Any

from torchspeed.errors import TorchspeedError
from torchspeed.watch.asv.commands import find_cause


def run_command(command: Sequence[str], timeout_s: float, **options: Any) -> str:
    """Run a command and return what it printed.

    Args:
        command: the program and its arguments.
        timeout_s: seconds after which it is ended.
        options: of `subprocess.run`, such as ``cwd``.

    Raises:
        TorchspeedError: it failed or took too long.
    """
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout_s, check=False, **options
        )
    except subprocess.TimeoutExpired:
        raise TorchspeedError(f"no answer after {timeout_s:g} s; try again later") from None
    if process.returncode:
        raise TorchspeedError(find_cause(process.stderr))
    return str(process.stdout)
