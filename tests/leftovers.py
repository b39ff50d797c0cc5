"""What a run of the tests leaves outside its own temporary folder, and what it forgot in there.

Other processes of the machine work meanwhile, so only names that this project gives are looked at.
"""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

_OURS = ("asv-watch-*", "torchspeed-*")
"""Everything temporary that the two packages make has such a name."""
_IN_HOME = (".asv*",)
_CACHES = (
    "__pycache__",
    "_cache/",
    ".hypothesis",
    ".egg-info",
    ".coverage",
    ".venv",
    "node_modules",
)
_RESULTS = {
    ".csv",
    ".html",
    ".json",
    ".jsonl",
    ".log",
    ".parquet",
    ".png",
    ".pt",
    ".svg",
}
"""Endings of what commands write; a source file is a person's, who works on it meanwhile."""

_NEW = {"??", "!!"}
"""States of files that git does not track, and of those that it ignores."""


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What lies about, before the tests or after them."""

    checkout: Path
    temporary: Path
    """Folder that all temporary files of the tests go to."""
    home: Path

    def names(self) -> set[str]:
        """Name what commands wrote into the checkout, the home and the temporary folder."""
        command = ["git", "status", "--porcelain", "-z", "--ignored=matching", "-uall"]
        done = subprocess.run(
            command, cwd=self.checkout, capture_output=True, text=True, check=False
        )
        entries = (entry.split(" ", 1) for entry in done.stdout.split("\0") if entry[:2] in _NEW)
        written = {
            str(self.checkout / name)
            for state, name in entries
            if not any(cache in name for cache in _CACHES)
            and (state == "!!" or Path(name).suffix in _RESULTS)
        }
        elsewhere = ((self.home, _IN_HOME), (self.temporary, _OURS))
        return written | {
            str(path)
            for folder, patterns in elsewhere
            for pattern in patterns
            for path in folder.glob(pattern)
        }

    def list_since(self, before: set[str], patience_s: float = 10.0) -> list[str]:
        """Name what was not there before; who cleans up after a killed run has time to finish.

        Args:
            before: what `names` gave before the tests.
            patience_s: seconds to wait for the end of that.
        """
        deadline = time.monotonic() + patience_s
        while (left := self.names() - before) and time.monotonic() < deadline:
            time.sleep(0.2)
        return sorted(left)
