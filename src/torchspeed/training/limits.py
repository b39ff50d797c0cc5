"""Checks before a run starts that memory and cores suffice for it.

A machine without memory ends processes at random, ours or others'. The estimate is rough and on
the safe side: it refuses what cannot work, and does not promise that the rest does.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import nn

from torchspeed.data.dataset import Data
from torchspeed.errors import TorchspeedError
from torchspeed.measure.work import activation_bytes_of_item, parameter_bytes

WORKER_BYTES = 100 * 1024**2
"""Memory of a loading process that it does not share with its parent, in bytes: 10 MiB at first
(measured with the embedded digits), growing as it writes to pages of Python objects."""

PREFETCHED = 2
"""Batches that a worker holds ready: DataLoader's default."""

LOADERS = 2
"""Training and test batches are loaded by workers of their own."""

SHARE = 0.8
"""Share of the memory available now that a run may take."""

WORKERS_PER_CORE = 16
"""More of them spend their time on waiting for each other."""

_GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Need:
    """What a model needs of the main memory, in bytes; nothing where it lies on a GPU."""

    fixed: int = 0
    """Whatever the batch: parameters, and their gradients in training."""
    of_item: int = 0
    """For each item of a batch, beside the item itself: what autograd keeps."""


def need_of(model: nn.Module, shape: Sequence[int], *, trains: bool) -> Need:
    """Estimate what a model on the CPU needs, without moments and temporary tensors.

    Args:
        model: in either mode.
        shape: of an item.
        trains: whether it is trained, not only passed forward.
    """
    parameters = parameter_bytes(model)
    if not trains:
        return Need(parameters)
    return Need(2 * parameters, activation_bytes_of_item(model, shape))


def check_limits(data: Data, need: Need, batch_size: int, workers: int, ranks: int) -> None:
    """Refuse batches and workers that would not fit into memory, and workers far beyond the cores.

    Args:
        data: what is loaded.
        need: of the model.
        batch_size: items per step and rank.
        workers: loading processes per rank and loader.
        ranks: processes on this machine that train together.

    Raises:
        TorchspeedError: too many; the message names a number that fits.
    """
    room = usable_bytes() / ranks
    item_bytes = 4 * math.prod(data.item_shape)
    of_item = 2 * item_bytes + need.of_item  # the batch, and its copy in the model
    largest_batch = int((room - need.fixed) // of_item)
    shape = "x".join(map(str, data.item_shape))
    if largest_batch < 1:
        raise TorchspeedError(
            f"the model and an item of {shape} need {(need.fixed + of_item) / _GIB:.2f} GiB, and "
            f"{room / _GIB:.2f} GiB may be used; give a smaller model, or free memory"
        )
    if batch_size > largest_batch:
        raise TorchspeedError(
            f"a batch of {batch_size} items of {shape} does not fit into memory; give "
            f"--batch-size {largest_batch} or less"
        )
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    most_for_cores = max(1, WORKERS_PER_CORE * (cores or 1) // ranks)
    if workers > most_for_cores:
        raise TorchspeedError(
            f"{workers} workers are too many (cores: {cores}); give --workers {most_for_cores} or "
            "fewer"
        )
    per_worker = LOADERS * (WORKER_BYTES + PREFETCHED * batch_size * item_bytes)
    most_workers = int(room // per_worker)
    if workers > most_workers:
        raise TorchspeedError(
            f"{workers} workers need about {workers * per_worker / _GIB:.1f} GiB and "
            f"{room / _GIB:.1f} GiB may be used; give --workers {most_workers} or fewer"
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
