"""Whether what is stored still fits on the disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from asv_watch.errors import PlaceError

_FEWEST_BYTES = 32 * 1024**2


def check_disk(*folders: Path) -> None:
    """Refuse a disk that is full or cannot be written, so that no case is blamed for it.

    Raises:
        PlaceError: Names the folder.
    """
    for folder in folders:
        if folder.is_dir():
            free = shutil.disk_usage(folder).free
            if free < _FEWEST_BYTES:
                raise PlaceError(
                    f"{folder}: {free / 1024**2:.0f} MiB are free, and so No space left on device"
                )
            try:
                with tempfile.TemporaryFile(dir=folder) as stream:
                    stream.write(bytes(4096))
                    stream.flush()
                    os.fsync(stream.fileno())
            except OSError as error:
                raise PlaceError(f"{folder}: {error.strerror}") from error
