"""Finds the change points of many series, and keeps partitions for the next publish.

Nearly all of the time goes into the partition of blocks of values, which depends on nothing but
the values and the code. A new value of a series changes its last block alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import zlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import msgspec
import numpy as np

from asv_watch.files import read_regular
from asv_watch.statistics.change_points import Step, blocks_to_partition, find_steps
from asv_watch.statistics.partition import Array, Block, BlockPartition, partition_blocks

_WORTH_A_POOL = 20_000  # values: below, starting processes costs more than it saves

_AT_ONCE = 64  # blocks: more at once are no quicker


_CHECKSUM_BYTES = 4


class _File(msgspec.Struct):
    code: str
    """Digest of the code that worked the partitions out."""
    partitions: dict[str, BlockPartition]


class BlockCache:
    """The partitions of blocks, by a digest of what they depend on."""

    def __init__(self, path: Path | None = None) -> None:
        """Take over what a file holds, if the same code wrote it.

        Args:
            path: A file that `write` wrote; one that is missing, damaged or of other code is
                ignored.
        """
        self._code = _code_digest()
        self._known: dict[str, BlockPartition] = {}
        self._used: dict[str, BlockPartition] = {}
        stored = b""
        with contextlib.suppress(OSError):
            stored = read_regular(path) if path else b""
        content = memoryview(stored)[_CHECKSUM_BYTES:]
        if stored[:_CHECKSUM_BYTES] == _checksum(content):
            with contextlib.suppress(msgspec.MsgspecError):  # as another release wrote it
                file = msgspec.msgpack.decode(content, type=_File)
                if file.code == self._code:
                    self._known = file.partitions

    def write(self, path: Path) -> None:
        """Write the partitions that were asked for since this cache was made."""
        content = msgspec.msgpack.encode(_File(self._code, self._used))
        with path.open("wb") as stream:
            stream.write(_checksum(content))
            stream.write(content)

    def find_all(self, series: Iterable[Sequence[float] | Array]) -> list[list[Step]]:
        """Find the change points of each series of values (`change_points.find_steps`)."""
        arrays = [np.asarray(values, dtype=np.float64) for values in series]
        blocks = {
            _digest(*block): block for values in arrays for block in blocks_to_partition(values)
        }
        missing = {key: block for key, block in blocks.items() if key not in self._known}
        self._known |= _partition_all(missing)
        return [find_steps(values, find_block=self._find_block) for values in arrays]

    def _find_block(self, y: Array, least_variance: float, length: int) -> BlockPartition:
        key = _digest(y, least_variance, length)
        if key not in self._known:
            [self._known[key]] = partition_blocks([(y, least_variance, length)])
        self._used[key] = self._known[key]
        return self._known[key]


def _checksum(content: bytes | memoryview) -> bytes:
    return zlib.crc32(content).to_bytes(_CHECKSUM_BYTES, "big")


def _digest(y: Array, least_variance: float, length: int) -> str:
    state = hashlib.blake2b(y.tobytes(), digest_size=12)
    state.update(repr((float(least_variance), length)).encode())
    return state.hexdigest()


def _code_digest() -> str:
    """Return a digest of this package's files and numpy's version: a change starts afresh."""
    state = hashlib.blake2b(np.__version__.encode(), digest_size=12)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        state.update(path.read_bytes())
    return state.hexdigest()


def _partition_all(blocks: Mapping[str, Block]) -> dict[str, BlockPartition]:
    """Partition each; on all cores where there is much to do.

    The processes are forked, and leave it to the parent to stop when it is interrupted.
    """
    keys = sorted(blocks, key=lambda key: len(blocks[key][0]))
    batches = [keys[first : first + _AT_ONCE] for first in range(0, len(keys), _AT_ONCE)]
    work = [[blocks[key] for key in batch] for batch in batches]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if sum(len(y) for y, _, _ in blocks.values()) < _WORTH_A_POOL or not cores or cores < 2:
        partitioned = list(map(partition_blocks, work))
    else:
        with ProcessPoolExecutor(
            cores, get_context("fork"), signal.signal, (signal.SIGINT, signal.SIG_IGN)
        ) as pool:
            partitioned = list(pool.map(partition_blocks, work))
    return {
        key: block
        for batch, of_batch in zip(batches, partitioned, strict=True)
        for key, block in zip(batch, of_batch, strict=True)
    }
