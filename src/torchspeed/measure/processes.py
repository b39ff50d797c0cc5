"""The first step of processes that asv does not start: keep freed memory.

glibc otherwise gives large blocks back to the kernel and faults them in again at every pass, which
is slower and adds noise. asv's environments set ``MALLOC_*`` variables against that; in a process
that runs already, ``mallopt`` does the same, for it and for what it forks.
"""

import ctypes
import os

_LARGEST_INT = 2**31 - 1

SETTINGS = {
    "MALLOC_MMAP_THRESHOLD_": (-3, 4294967296),
    "MALLOC_TRIM_THRESHOLD_": (-1, 4294967296),
    "MALLOC_TOP_PAD_": (-2, 268435456),
}
"""Variable of glibc to its number for ``mallopt`` (``malloc.h``) and its value in bytes, as in
asv.conf.json."""


def keep_memory() -> None:
    """Make this process keep the memory it frees, as processes in asv's environments do.

    ``mallopt`` takes an int, so blocks of 2 GiB or more still come from the kernel,
    where asv's limit is 4 GiB. What a variable of the environment sets stays as it is. Allocators
    other than glibc's are left alone.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # musl, macOS, Windows
        return
    for variable, (number, value) in SETTINGS.items():
        if variable not in os.environ:
            mallopt(number, min(value, _LARGEST_INT))
