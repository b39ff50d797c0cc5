"""Writes files that stay whole when the process is killed."""

import os
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file's content atomically: a kill or a loss of power leaves the old or the new.

    Raises:
        OSError: The disk is full, or the folder cannot be written; the old content stays.
    """
    aside = path.with_name(f".{path.name}.tmp")
    try:
        aside.unlink(missing_ok=True)  # left by a killed process, or a link
        with aside.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        aside.replace(path)
    except BaseException as error:
        aside.unlink(missing_ok=True)
        if isinstance(error, OSError):  # what `write` raises names no file
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    descriptor = os.open(path.parent, os.O_RDONLY)  # makes the new name durable, too
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
