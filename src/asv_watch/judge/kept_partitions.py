"""Keeps how blocks of series were partitioned, which is half the work of a publish, for the next.

A block is found again by all that decides its partition: its values, and the code and the numpy
that computed it. So what is kept is never out of date, and losing it costs time alone.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import numpy as np

from asv_watch.files import read_regular, write_whole
from asv_watch.statistics import noise, partition
from asv_watch.statistics.partition import BlockPartition


class _Kept(msgspec.Struct):
    code: str
    """Digest of the code and the numpy that found the partitions."""
    partitions: dict[str, BlockPartition]


@contextmanager
def kept_partitions(folder: Path) -> Iterator[dict[str, BlockPartition]]:
    """Give the partitions that were found before, and keep those that are there at the end.

    Without the folder, nothing is kept; a file that is damaged or cannot be written is as good as
    none.
    """
    path = folder / "partitions.msgpack"
    code = _code()
    kept = _Kept(code, {})
    with suppress(OSError, msgspec.MsgspecError):
        kept = msgspec.msgpack.decode(read_regular(path), type=_Kept)
    partitions = kept.partitions if kept.code == code else {}
    before = set(partitions)
    yield partitions
    if folder.is_dir() and partitions.keys() != before:
        with suppress(OSError):
            write_whole(path, msgspec.msgpack.encode(_Kept(code, partitions)))


def _code() -> str:
    sources = np.__version__, inspect.getsource(noise), inspect.getsource(partition)
    return hashlib.blake2b("\n".join(sources).encode(), digest_size=16).hexdigest()
