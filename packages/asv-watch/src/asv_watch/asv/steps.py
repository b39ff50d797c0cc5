"""Levels of a series, found by asv's step detection and kept for the next publish.

The key of the levels is a digest of the values, and a file of them is read only with the version
of asv that found them. So kept levels are never out of date, and losing them costs only time.
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import asv
import msgspec
import numpy as np
from asv import step_detect

from asv_watch.files import make_folder, read_regular, write_whole
from asv_watch.statistics.ratio import Floats

_DIGEST_BYTES = 16
_LARGEST = 1e100
"""With values near the largest number, step detection never ends; no measurement is that large."""


class Level(NamedTuple):
    """Successive values of a series around one level."""

    first: int
    """Index of the first value."""
    end: int
    """Index after the last value."""
    value: float
    """In the unit of the values."""


class Levels:
    """The levels of arrays of values; those of equal arrays are found once."""

    def __init__(self, known: Mapping[bytes, list[Level]] | None = None) -> None:
        """Start with levels that were found before, by the digest of their values."""
        self._known = known or {}
        self.needed: dict[bytes, list[Level]] = {}
        """Those that were asked for."""

    def find(self, values: Floats) -> list[Level]:
        """Return the levels of finite values, oldest first; none if a value is too large."""
        if np.abs(values).max(initial=0) > _LARGEST:
            return []
        key = hashlib.blake2b(values.tobytes(), digest_size=_DIGEST_BYTES).digest()
        if key not in self.needed:
            self.needed[key] = self._known.get(key) or [
                Level(first, end, value)
                for first, end, value, *_ in step_detect.detect_steps(values.tolist())
            ]
        return self.needed[key]


@contextmanager
def kept_levels(folder: Path) -> Iterator[Levels]:
    """Provide the levels that were found before, and keep those that were needed.

    A damaged file is treated as missing, and failure to write it is ignored.
    """
    path = folder / "steps.msgpack"
    known: dict[bytes, list[Level]] = {}
    with suppress(OSError):
        content = read_regular(path)
        packed = content[_DIGEST_BYTES:]
        if _digest(packed) == content[:_DIGEST_BYTES]:
            known = msgspec.msgpack.decode(packed, type=dict[bytes, list[Level]])
    levels = Levels(known)
    yield levels
    if levels.needed.keys() != known.keys():
        packed = msgspec.msgpack.encode(levels.needed)
        with suppress(OSError):
            make_folder(folder)
            write_whole(path, _digest(packed) + packed)


def _digest(packed: bytes) -> bytes:
    """Return the first bytes of the file: a digest of asv's version and of the levels."""
    return hashlib.blake2b(asv.__version__.encode() + packed, digest_size=_DIGEST_BYTES).digest()
