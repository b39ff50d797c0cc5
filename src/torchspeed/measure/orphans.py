"""Ends a process together with the process that started it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # of prctl(2), Linux


def die_with_parent() -> None:
    """Have the kernel kill this process as soon as the one that started it ends.

    A fork does not inherit it.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def die_with(parent: int) -> None:
    """End this process, on Linux, when process ``parent``, which started it, ends."""
    if not sys.platform.startswith("linux"):
        return
    die_with_parent()
    if os.getppid() != parent:  # it ended before the call above
        os.kill(os.getpid(), signal.SIGKILL)
