"""Keeps what result files gave from one publish to the next.

An entry belongs to the content of a result file and its outcomes, and all entries to
the list of benchmarks, the notes and the code that read them, so that a stale one is never used.
Files that gave a problem are not kept. Deleting the cache changes nothing but how long a publish
takes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from asv_watch.files import digest
from asv_watch.records import suite_lists
from asv_watch.records.cache import Cache
from asv_watch.records.notes import FILE_NAME as NOTES
from asv_watch.records.packed_runs import PackedRuns
from asv_watch.records.result_files import Origin


class KnownFile(msgspec.Struct, array_like=True):
    """What one result file gave."""

    commit: str
    """Full hash."""
    position: int
    """Of the commit along the branch, which recipes in notes depend on."""
    origin: bytes
    """An `Origin`, encoded: most files have the same, which is decoded once."""
    runs: PackedRuns
    """Places are indices of cases."""
    left_out: list[tuple[str, str, int]]
    """Benchmark, reason and number of what was left out."""


_KNOWN_FILE = msgspec.msgpack.Decoder(KnownFile)
_ORIGIN = msgspec.msgpack.Decoder(Origin)


class RunCache(Cache):
    """The runs of result files, by a digest of the files."""

    def __init__(
        self,
        results: Path,
        path: Path | None = None,
        digests: Mapping[str, str] | None = None,
    ) -> None:
        """Take over what a file holds, if it was written for the same benchmarks by the same code.

        Args:
            results: The folder of all machines' results.
            path: As of `Cache`.
            digests: Of files that were read already, by their paths, so that what is known of
                them is found without reading them again.
        """
        super().__init__(_context(results), path)
        self._digests = digests or {}
        self._origins: dict[bytes, Origin] = {}

    def find_file(self, paths: Sequence[Path], positions: Mapping[str, int]) -> KnownFile | None:
        """Return what a result file gave before, if that is known and holds for this branch.

        Args:
            paths: The file, and that of its outcomes if there is one.
            positions: Of commits along the branch.
        """
        stored = self.find("".join(self._digests.get(str(path)) or digest(path) for path in paths))
        known = None if stored is None else _KNOWN_FILE.decode(stored)
        if known is None or positions.get(known.commit) != known.position:
            return None
        return known

    def origin(self, known: KnownFile) -> Origin:
        """Return the origin of a known file: the same object for equal ones."""
        if known.origin not in self._origins:
            self._origins[known.origin] = _ORIGIN.decode(known.origin)
        return self._origins[known.origin]


def encode_origin(origin: Origin) -> bytes:
    """Return an origin as `KnownFile` has it."""
    return msgspec.msgpack.encode(origin)


def _context(results: Path) -> str:
    code = sorted(Path(__file__).parent.glob("*.py"))
    versions = f"{sys.version} {msgspec.__version__} "
    return versions + "".join(
        map(digest, (results / suite_lists.FILE_NAME, results / NOTES, *code))
    )
