"""Keeps results of a publish for the next one, in a file under a checksum."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import Any

import msgspec

from torchspeed.files import read_regular

_CHECKSUM_BYTES = 16


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
        content = b""
        with contextlib.suppress(OSError):
            content = read_regular(path) if path else b""
        checksum, content = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
        if checksum == _checksum(content):
            with contextlib.suppress(msgspec.MsgspecError):  # as another release wrote it
                stored = msgspec.msgpack.decode(content, type=_File)
                if stored.context == context:
                    self._known = stored.entries

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
        path.write_bytes(_checksum(content) + content)


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_CHECKSUM_BYTES).digest()
