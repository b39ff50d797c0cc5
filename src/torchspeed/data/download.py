"""Fetching files: asked for, announced, checked, and never left half-written."""

from __future__ import annotations

import socket
import sys
import tempfile
from pathlib import Path

from torchspeed.errors import TorchspeedError

TIMEOUT_S = 60
"""How long a server may send nothing."""


def fetch(url: str, path: Path, md5: str) -> None:
    """Download ``url`` to ``path``.

    torchvision downloads to a folder aside and checks the file, which then takes its place.

    Raises:
        TorchspeedError: no network, full disk, or a file other than the known one.
    """
    from torchvision.datasets.utils import download_url  # noqa: PLC0415 - seconds to import

    print(f"downloading {url} to {path}", file=sys.stderr)
    path.parent.mkdir(parents=True, exist_ok=True)
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(TIMEOUT_S)
    try:
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            download_url(url, folder, path.name, md5)
            (Path(folder) / path.name).replace(path)
    except OSError as error:
        reason = str(error).splitlines()[0]
        raise TorchspeedError(
            f"{url} could not be downloaded ({reason}); check the network, or put the file at "
            f"{path} yourself"
        ) from None
    except RuntimeError:
        raise TorchspeedError(
            f"{url} is not the file it was (md5 {md5} expected); nothing was kept: try again, or "
            f"put the true file at {path}"
        ) from None
    finally:
        socket.setdefaulttimeout(before)
