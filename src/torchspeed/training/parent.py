"""Ends a process with the process that started it: ranks with a launcher, points with a sweep."""

from __future__ import annotations

import os
import signal
import sys

from torchspeed.measure.orphans import die_with_parent

LAUNCHER = "TORCHSPEED_LAUNCHER"
"""Environment variable by which ranks learn the id of the process that launched them."""


def die_with_launcher() -> None:
    """End this process when the launcher named by ``LAUNCHER`` ends, if a launcher started it."""
    launcher = os.environ.get(LAUNCHER)
    if launcher is not None:
        die_with(int(launcher))


def die_with(parent: int) -> None:
    """End this process, on Linux, when process ``parent``, which started it, ends."""
    if not sys.platform.startswith("linux"):
        return
    die_with_parent()
    if os.getppid() != parent:  # it ended before the call above
        os.kill(os.getpid(), signal.SIGKILL)
