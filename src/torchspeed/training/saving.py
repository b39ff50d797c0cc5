"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from torchspeed.errors import TorchspeedError


def save_whole(path: Path, content: bytes) -> None:
    """Write beside ``path``, then swap: a reader never meets half a file.

    Raises:
        TorchspeedError: the folder is missing or not writable, or the disk full.
    """
    partial = None
    try:
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            partial = file.name
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(partial, 0o644)
        os.replace(partial, path)
    except OSError as error:
        raise TorchspeedError(
            f"{path} cannot be written ({error.strerror}); give a folder that exists, is "
            "writable and has room"
        ) from None
    finally:
        if partial is not None and os.path.exists(partial):
            os.unlink(partial)
