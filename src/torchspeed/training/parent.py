"""Ends a process with the one that started it: ranks with a launcher, points with a sweep."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
"""Linux: the signal that a process gets when its parent dies (prctl(2))."""

PARENT = "TORCHSPEED_LAUNCHER"
"""Environment variable with the id of the process that started this one."""


def die_with_parent() -> None:
    """Have the kernel end this process when the one named by ``PARENT`` is gone; Linux only."""
    parent = os.environ.get(PARENT)
    if parent is None or not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(parent):  # it went before the call above
        os.kill(os.getpid(), signal.SIGKILL)
