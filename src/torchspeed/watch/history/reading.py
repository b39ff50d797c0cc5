"""Reads stored files, and refuses what is no regular file: reading a fifo would never end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_regular(path: Path) -> bytes:
    """Read the content of a regular file, or of one that a symbolic link leads to.

    Raises:
        OSError: The file is missing (a dangling link included), cannot be read, or is a
            folder, fifo, socket or device.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # opening a fifo would wait as well
    with open(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        return stream.read()
