"""Checks before a run starts that memory and cores suffice for it.

A machine that runs out of memory kills processes at random. The estimate is rough: it refuses runs
that cannot work, and does not promise that the others do.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from pathlib import Path

from torch import nn

from torchspeed.errors import TorchspeedError
from torchspeed.measure.work import activation_bytes_of_item, parameter_bytes
from torchspeed.training.cores import cores

SHARE = 0.8
"""Share of the memory available now that a run may take."""

WORKERS_PER_CORE = 16
"""Most workers per core; more of them wait for each other."""


def check_batch(
    batch_size: int, shape: Sequence[int], model: nn.Module | None, ranks: int, *, trains: bool
) -> None:
    """Refuse batches that would not fit into memory, and name a size that does.

    If the model is in main memory, its parameters count too, and in training their gradients and
    what autograd keeps of each item. ``model`` is None for a model on a GPU.

    Raises:
        TorchspeedError: a batch does not fit; the message names the largest one that does.
    """
    fixed_bytes, item_bytes = 0, 2 * 4 * math.prod(shape)  # the batch, and its copy in the model
    if model is not None:
        fixed_bytes = parameter_bytes(model) * (2 if trains else 1)
        item_bytes += activation_bytes_of_item(model, shape) if trains else 0
    largest = max(0, int((usable_bytes() / ranks - fixed_bytes) // item_bytes))
    if batch_size > largest:
        remedy = f"--batch-size {largest} or less" if largest else "a smaller model"
        raise TorchspeedError(
            f"a batch of {batch_size} items of {'x'.join(map(str, shape))} does not fit into "
            f"memory; give {remedy}"
        )


def check_workers(workers: int, ranks: int) -> None:
    """Refuse loading processes far beyond the cores.

    Raises:
        TorchspeedError: there are too many; the message has a number that works.
    """
    most = max(1, WORKERS_PER_CORE * cores() // ranks)
    if workers > most:
        raise TorchspeedError(
            f"{workers} workers are too many (cores: {cores()}); give --workers {most} or fewer"
        )


def usable_bytes() -> float:
    """Return the bytes that a run may take: a share of free memory, or of all if that is unknown.

    It works without psutil, because suites train in environments that have torch alone.
    """
    counts = Path("/proc/meminfo")
    if counts.exists() and (
        available := re.search(r"MemAvailable: +(\d+) kB", counts.read_text())
    ):
        return SHARE * int(available[1]) * 1024
    return SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
