"""Limits on how much is read from other people's results, in a folder or on a branch."""

from __future__ import annotations

import time

from asv_watch.errors import WatchError

MOST_FILES = 200_000
"""Largest number of files and folders of a source."""
MOST_BYTES = 2 * 1024**3
"""Largest size of a source, which is held in memory, so that it is written whole or not at all."""
DEEPEST = 32
"""Largest number of folders above a file; results need three below their own folder."""
LONGEST_S = 600.0
"""Most seconds to list and read a source."""


class Limits:
    """Counts what was read from one source, and refuses the source when it is too much."""

    def __init__(self, source: str) -> None:
        """Start counting; the source is a folder or branch, as a person named it."""
        self._source = source
        self._files = 0
        self._bytes = 0
        self._ends = time.monotonic() + LONGEST_S

    @property
    def seconds_left(self) -> float:
        """Seconds until reading has to be finished; negative afterwards."""
        return self._ends - time.monotonic()

    def count(self, path: str, size: int = 0) -> None:
        """Count a file or folder, before it is read.

        Args:
            path: Path below the source, with ``/`` between folders.
            size: Bytes of a file.

        Raises:
            WatchError: With it there are too many files or bytes, it lies too deep, or the time
                is over.
        """
        self._files += 1
        self._bytes += size
        if self._files > MOST_FILES or self._bytes > MOST_BYTES:
            raise WatchError(
                f"{self._source} has more than {MOST_FILES:,} files or {MOST_BYTES:,} bytes, "
                "which is the most that is merged; give fewer at a time, or the folder of results "
                "alone"
            )
        if path.count("/") > DEEPEST:
            raise WatchError(
                f"{self._source} has folders more than {DEEPEST} levels deep, as results never "
                "have; give the folder of results alone"
            )
        self.check_time()

    def check_time(self) -> None:
        """Refuse the source when the time is over."""
        if self.seconds_left < 0:
            raise WatchError(
                f"{self._source} could not be read within {LONGEST_S:g} s; give fewer results at "
                "a time"
            )
