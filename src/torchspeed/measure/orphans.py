"""Ends a counting process together with the process that started it."""

from __future__ import annotations

import ctypes
import signal

_PR_SET_PDEATHSIG = 1  # of prctl(2), Linux


def die_with_parent() -> None:
    """Have the kernel kill this process as soon as the one that started it ends.

    A fork does not inherit it.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
