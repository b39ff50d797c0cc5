"""Keeps results of a publish for the next one, in a file under a checksum."""

from __future__ import annotations

import contextlib
import zlib
from pathlib import Path
from typing import Any

import msgspec

from asv_watch.files import read_regular

_CHECKSUM_BYTES = 4


class _File(msgspec.Struct):
    context: str
    entries: dict[str, msgspec.Raw]


class Cache:
    """Values by key, of which those that are not asked for are dropped when it is written."""

    def __init__(self, context: str, path: Path | None = None) -> None:
        """Take over what a file holds, if it was written in the same context.

        Args:
            context: What all values depend on, such as a digest of the code that made them.
            path: A file that `write` wrote; one that is missing, damaged or of another context
                is ignored.
        """
        self._context = context
        self._known: dict[str, msgspec.Raw] = {}
        self._used: dict[str, msgspec.Raw] = {}
        stored = b""
        with contextlib.suppress(OSError):
            stored = read_regular(path) if path else b""
        content = memoryview(stored)[_CHECKSUM_BYTES:]
        if stored[:_CHECKSUM_BYTES] == _checksum(content):
            with contextlib.suppress(msgspec.MsgspecError):  # as another release wrote it
                file = msgspec.msgpack.decode(content, type=_File)
                if file.context == context:
                    self._known = file.entries

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def find(self, key: str) -> msgspec.Raw | None:
        """Return a value as MessagePack, and keep it for the next time."""
        if key in self._known:
            self._used[key] = self._known[key]
        return self._known.get(key)

    def add(self, key: str, value: Any) -> None:
        """Keep a value.

        Raises:
            OverflowError: It holds numbers of more than 64 bits.
        """
        self._known[key] = self._used[key] = msgspec.Raw(msgspec.msgpack.encode(value))

    def write(self, path: Path) -> None:
        """Write the values that were asked for or added since this cache was made."""
        content = msgspec.msgpack.encode(_File(self._context, self._used))
        with path.open("wb") as stream:
            stream.write(_checksum(content))
            stream.write(content)


def _checksum(content: bytes | memoryview) -> bytes:
    return zlib.crc32(content).to_bytes(_CHECKSUM_BYTES, "big")
