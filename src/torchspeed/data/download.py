"""Fetching files: asked for, announced, checked, and never left half-written.

A file that is there and whole is not fetched again, so a broken set of
downloads goes on where it stopped.
"""

from __future__ import annotations

import sys
from pathlib import Path

from torchspeed.errors import TorchspeedError


def fetch(url: str, path: Path, md5: str) -> None:
    """Download ``url`` to ``path`` unless a whole copy lies there.

    The download goes to a temporary name in the same folder and replaces ``path``
    once the checksum holds.

    Raises:
        TorchspeedError: no network, full disk, or a file other than the known one.
    """
    import pooch  # noqa: PLC0415 - optional
    import requests  # noqa: PLC0415 - optional

    print(f"downloading {url} to {path}", file=sys.stderr)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        pooch.retrieve(
            url=url,
            known_hash=f"md5:{md5}",
            fname=path.name,
            path=path.parent,
            downloader=pooch.HTTPDownloader(timeout=60),
        )
    except (requests.RequestException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise TorchspeedError(
            f"{url} could not be downloaded ({reason}); check the network, or put the file at "
            f"{path} yourself"
        ) from None
    except ValueError:
        raise TorchspeedError(
            f"{url} is not the file it was (md5 {md5} expected); nothing was kept: try again, or "
            f"put the true file at {path}"
        ) from None
