"""How many threads of the CPU torch may use."""

from __future__ import annotations

import os

import torch


def use_all_cores() -> int:
    """Let torch's operators run on every core that this process may use.

    It overrules ``OMP_NUM_THREADS``.

    Returns:
        The number of threads.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    torch.set_num_threads(cores or 1)
    return torch.get_num_threads()
