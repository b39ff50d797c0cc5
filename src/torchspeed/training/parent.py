"""Ends a process with the process that started it: ranks with a launcher, points with a sweep."""

from __future__ import annotations

import os
import signal
import sys

from torchspeed.measure.orphans import die_with_parent


def die_with(parent: int) -> None:
    """End this process, on Linux, when process ``parent``, which started it, ends."""
    if not sys.platform.startswith("linux"):
        return
    die_with_parent()
    if os.getppid() != parent:  # it ended before the call above
        os.kill(os.getpid(), signal.SIGKILL)
