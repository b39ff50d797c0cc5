"""Reads regular files only, and keeps caches under a checksum."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path


def read_regular(path: Path) -> bytes:
    """Read a regular file, or one that a symbolic link leads to; reading a fifo would never end.

    Raises:
        OSError: The file is missing (a dangling link included), cannot be read, or is a
            folder, fifo, socket or device.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # opening a fifo would wait as well
    with open(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        return stream.read()


def write_cache(path: Path, content: bytes) -> None:
    """Write a cache file, which begins with a checksum."""
    path.write_bytes(_checksum(content) + content)


def read_cache(path: Path | None) -> bytes | None:
    """Read a file that `write_cache` wrote; ``None`` if it is missing or damaged in any way."""
    try:
        content = read_regular(path) if path else b""
    except OSError:
        return None
    length = len(_checksum(b""))
    checksum, content = content[:length], content[length:]
    return content if checksum == _checksum(content) else None


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
