"""Keeps what result files gave from one publish to the next.

An entry belongs to the content of a result file and of the outcomes beside it, and all entries to
the list of benchmarks, the notes and the code that read them, so that a stale one is never used.
Files that gave a problem are not kept. Deleting the cache changes nothing but how long a publish
takes.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from torchspeed.watch.history import suite_lists
from torchspeed.watch.history.files import read_cache, read_regular, write_cache
from torchspeed.watch.history.notes import FILE_NAME as NOTES
from torchspeed.watch.history.records import Run
from torchspeed.watch.history.result_files import ResultFile


class KnownFile(msgspec.Struct, array_like=True):
    """What one result file gave."""

    content: ResultFile
    """Without its rows."""
    position: int
    """Of its commit along the branch, which recipes in notes depend on."""
    runs: dict[int, Run]
    """Index of a case to its run."""
    left_out: list[tuple[str, str, int]]
    """Benchmark, reason and number of what was left out."""


class _File(msgspec.Struct):
    context: str
    entries: dict[str, msgspec.Raw]


_ENTRY = msgspec.msgpack.Decoder(KnownFile)


class RunCache:
    """The runs of result files, by a digest of the files."""

    def __init__(self, results: Path, path: Path | None = None) -> None:
        """Take over what a file holds, if it was written for the same benchmarks by the same code.

        Args:
            results: The folder of all machines' results.
            path: A file that `write` wrote; one that is missing, damaged or of other code
                is ignored.
        """
        self._context = _context(results)
        self._known: dict[str, msgspec.Raw] = {}
        self._used: dict[str, msgspec.Raw] = {}
        content = read_cache(path)
        if content is not None:
            stored = msgspec.msgpack.decode(content, type=_File)
            if stored.context == self._context:
                self._known = stored.entries

    def find(self, key: str, positions: Mapping[str, int]) -> KnownFile | None:
        """Give what a result file gave before, if that is known and holds for this branch.

        Args:
            key: Digest of the file (`digest`).
            positions: Of commits along the branch.
        """
        if key not in self._known:
            return None
        known = _ENTRY.decode(self._known[key])
        if positions.get(known.content.commit_hash) != known.position:
            return None
        self._used[key] = self._known[key]
        return known

    def add(self, key: str, known: KnownFile) -> None:
        """Keep what a result file gave, unless it holds numbers of more than 64 bits."""
        with contextlib.suppress(OverflowError):
            self._used[key] = msgspec.Raw(msgspec.msgpack.encode(known))

    def write(self, path: Path) -> None:
        """Write what was used since this cache was made."""
        write_cache(path, msgspec.msgpack.encode(_File(self._context, self._used)))


def digest(*paths: Path) -> str:
    """Digest of the contents of files, and of the reasons why some cannot be read."""
    state = hashlib.blake2b(digest_size=16)
    for path in paths:
        try:
            content = read_regular(path)
            state.update(f"{len(content)}\0".encode() + content)
        except OSError as error:
            state.update(f"{error.errno}, not read\0".encode())
    return state.hexdigest()


def _context(results: Path) -> str:
    code = sorted(Path(__file__).parent.glob("*.py"))
    versions = f"{sys.version} {msgspec.__version__} "
    return versions + digest(results / suite_lists.FILE_NAME, results / NOTES, *code)
