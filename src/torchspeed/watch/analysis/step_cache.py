"""Finds the change points of many series, and keeps them from one publish to the next.

They depend on nothing but the values and the code, so that only series with new values have
to be looked at again.
"""

from __future__ import annotations

import hashlib
import os
import signal
from array import array
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import msgspec
import numpy as np

from torchspeed.watch.analysis.change_points import Step, find_steps
from torchspeed.watch.history.files import read_regular

_WORTH_A_POOL = 20_000  # values: below, starting processes costs more than it saves


class _File(msgspec.Struct):
    code: str
    """Digest of the code that found the steps."""
    steps: dict[str, list[Step]]


class StepCache:
    """The change points of series of values, by a digest of the values."""

    def __init__(self, path: Path | None = None) -> None:
        """Take over what a file holds, if the same code wrote it.

        Args:
            path: A file that `write` wrote; one that is missing, damaged or of other code
                is ignored.
        """
        self._code = _code_digest()
        self._known: dict[str, list[Step]] = {}
        self._used: dict[str, list[Step]] = {}
        try:
            stored = msgspec.json.decode(read_regular(path), type=_File) if path else None
        except (OSError, msgspec.MsgspecError, ValueError):
            stored = None
        if stored is not None and stored.code == self._code:
            self._known = stored.steps

    def find_all(self, series: Sequence[Sequence[float]]) -> list[list[Step]]:
        """Find the change points of each series of values (`change_points.find_steps`)."""
        keys = [_digest(values) for values in series]
        missing = {
            key: values for key, values in zip(keys, series, strict=True) if key not in self._known
        }
        self._known |= zip(missing, _find_steps_of_all(list(missing.values())), strict=True)
        self._used |= {key: self._known[key] for key in keys}
        return [self._known[key] for key in keys]

    def write(self, path: Path) -> None:
        """Write what was asked for since this cache was made."""
        path.write_bytes(msgspec.json.encode(_File(self._code, self._used)))


def _digest(values: Sequence[float]) -> str:
    return hashlib.blake2b(array("d", values).tobytes(), digest_size=12).hexdigest()


def _code_digest() -> str:
    """Digest of the files of this package and of numpy's version: a change starts afresh."""
    state = hashlib.blake2b(np.__version__.encode(), digest_size=12)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        state.update(path.read_bytes())
    return state.hexdigest()


def _find_steps_of_all(series: Sequence[Sequence[float]]) -> list[list[Step]]:
    """Find the steps of each; on all cores where there is much to do.

    They are forked, and leave it to the parent to stop when it is interrupted.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if sum(map(len, series)) < _WORTH_A_POOL or not cores or cores < 2:
        return [find_steps(values) for values in series]
    with ProcessPoolExecutor(
        cores, get_context("fork"), signal.signal, (signal.SIGINT, signal.SIG_IGN)
    ) as pool:
        return list(pool.map(find_steps, series, chunksize=4))
