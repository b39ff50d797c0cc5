"""What a run may ask of this machine's memory, checked before anything is started.

A machine without memory ends processes at random, ours or others'. The estimate is rough and on
the safe side: it refuses what cannot work, and does not promise that the rest does.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

from torchspeed.data.dataset import Data
from torchspeed.errors import TorchspeedError

WORKER_BYTES = 100 * 1024**2
"""Memory of a loading process that it does not share with its parent, in bytes: 10 MiB at first
(measured with the embedded digits), growing as it writes to pages of Python objects."""

PREFETCHED = 2
"""Batches that a worker holds ready: DataLoader's default."""

LOADERS = 2
"""Training and test batches are loaded by workers of their own."""

SHARE = 0.8
"""Share of the memory available now that a run may take."""


def check_memory(data: Data, batch_size: int, workers: int, ranks: int) -> None:
    """Refuse batches and workers that would not fit into memory.

    Args:
        data: what is loaded.
        batch_size: items per step and rank.
        workers: loading processes per rank and loader.
        ranks: processes on this machine that train together.

    Raises:
        TorchspeedError: too many; the message names a number that fits.
    """
    room = usable_bytes() / ranks
    item_bytes = 4 * math.prod(data.item_shape)
    largest_batch = int(room // (2 * item_bytes))  # the batch, and its copy in the model
    if batch_size > largest_batch:
        raise TorchspeedError(
            f"a batch of {batch_size} items of {'x'.join(map(str, data.item_shape))} does not fit "
            f"into memory; give --batch-size {max(1, largest_batch)} or less"
        )
    per_worker = LOADERS * (WORKER_BYTES + PREFETCHED * batch_size * item_bytes)
    most_workers = int(room // per_worker)
    if workers > most_workers:
        raise TorchspeedError(
            f"{workers} workers need about {workers * per_worker / 1024**3:.1f} GiB and "
            f"{room / 1024**3:.1f} GiB may be used; give --workers {most_workers} or fewer"
        )


def usable_bytes() -> float:
    """Memory that a run may take: a share of what is free, or of all where that is not known.

    Suites train in environments that have torch and not psutil.
    """
    counts = Path("/proc/meminfo")
    if counts.exists() and (
        available := re.search(r"MemAvailable: +(\d+) kB", counts.read_text())
    ):
        return SHARE * int(available[1]) * 1024
    return SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
