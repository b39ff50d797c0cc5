"""Keeps the partitions of blocks of series, which saves the next publish half of its work.

The key of a block contains everything that decides its partition: its values, the code, and the
version of numpy. So a kept partition is never out of date, and losing it costs only time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import numpy as np

from asv_watch.files import make_folder, read_regular, write_whole
from asv_watch.runs import noise, partition
from asv_watch.runs.partition import BlockPartition

_DIGEST_BYTES = 16


@contextmanager
def kept_partitions(folder: Path) -> Iterator[dict[str, BlockPartition]]:
    """Provide the partitions that were found before, and keep those that exist at the end.

    A file that is damaged or was written by other code is treated as missing, and failure to
    write it is ignored.
    """
    path = folder / "partitions.msgpack"
    partitions: dict[str, BlockPartition] = {}
    with suppress(OSError):
        content = read_regular(path)
        packed = content[_DIGEST_BYTES:]
        if _digest(packed) == content[:_DIGEST_BYTES]:
            partitions = msgspec.msgpack.decode(packed, type=dict[str, BlockPartition])
    before = set(partitions)
    yield partitions
    if partitions.keys() != before:
        packed = msgspec.msgpack.encode(partitions)
        with suppress(OSError):
            make_folder(folder)
            write_whole(path, _digest(packed) + packed)


def _digest(packed: bytes) -> bytes:
    """Return the first bytes of the file: a digest of its content, the code and numpy."""
    digest = hashlib.blake2b(np.__version__.encode(), digest_size=_DIGEST_BYTES)
    for source in (noise.__file__, partition.__file__):
        digest.update(Path(source).read_bytes())
    digest.update(packed)
    return digest.digest()
