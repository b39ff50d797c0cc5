"""glibc's allocator told to keep the memory it has, in processes that asv does not start.

By default glibc gives large blocks back to the kernel and faults them in again at every
pass: noise, and slower. asv's environments set ``MALLOC_*`` variables against that
(asv.conf.json), which glibc reads before a process's first line; in a process that runs
already, ``mallopt`` does the same, for it and for what it forks.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass

_LARGEST_INT = 2**31 - 1


@dataclass(frozen=True)
class Setting:
    """One of glibc's settings: its variable, its number for ``mallopt``, its value in bytes."""

    variable: str
    number: int
    value: int


SETTINGS = (
    Setting("MALLOC_MMAP_THRESHOLD_", -3, 4294967296),
    Setting("MALLOC_TRIM_THRESHOLD_", -1, 4294967296),
    Setting("MALLOC_TOP_PAD_", -2, 268435456),
)
"""As in asv.conf.json; numbers as in glibc's ``malloc.h``."""


def keep_memory() -> bool:
    """Have this process keep the memory it frees, as processes in asv's environments do.

    ``mallopt`` takes an int, so blocks of 2 GiB or more still come from the kernel,
    where asv's limit is 4 GiB. What a variable of the environment sets stays as it is.

    Returns:
        Whether the allocator is glibc's and took it all.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # musl, macOS, Windows
        return False
    return all(
        mallopt(setting.number, min(setting.value, _LARGEST_INT)) == 1
        for setting in SETTINGS
        if setting.variable not in os.environ
    )
