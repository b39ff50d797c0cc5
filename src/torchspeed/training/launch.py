"""Starting a rank on each device of this machine, in processes of torch.multiprocessing.

When a rank fails, torch stops the others. Two things are added: the failure is reported in one
line, and no rank outlives this process, even when it is killed outright.
"""

from __future__ import annotations

import logging
import os
import tempfile
from typing import Protocol

from torch.multiprocessing.spawn import (
    ProcessExitedException,
    ProcessRaisedException,
    start_processes,
)

from torchspeed.errors import TorchspeedError
from torchspeed.measure.allocator import keep_memory
from torchspeed.training.group import Group, end_rank, join_group, leave_group
from torchspeed.training.parent import die_with

_RAISED = "torchspeed.errors.TorchspeedError: "


class Job(Protocol):
    """What each rank does; it has to be importable by name."""

    def __call__(self, *, group: Group) -> object:
        """Do the part of this rank."""


def launch(job: Job, device: str, devices: int) -> None:
    """Run ``job`` in ``devices`` ranks, and wait for them.

    Args:
        job: what each rank does.
        device: ``cpu`` or ``cuda``.
        devices: how many ranks.

    Raises:
        TorchspeedError: a rank failed; the others are stopped by then.
    """
    # Each rank would otherwise start a thread for every core.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // devices)))
    logging.getLogger("torch.multiprocessing.spawn").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="torchspeed-") as folder:
        arguments = (job, device, devices, f"file://{folder}/ranks", os.getpid())
        ranks = start_processes(_run_rank, arguments, nprocs=devices, join=False)
        try:
            while not ranks.join():
                pass
        except ProcessExitedException as error:
            reason = error.signal_name or f"status {error.exit_code}"
            raise TorchspeedError(
                f"rank {error.error_index} was ended by {reason}; all ranks are stopped"
            ) from None
        except ProcessRaisedException as error:
            last = str(error).strip().splitlines()[-1]
            if not last.startswith(_RAISED):
                raise
            raise TorchspeedError(
                f"rank {error.error_index} failed: {last.removeprefix(_RAISED)}"
            ) from None
        finally:
            for process in ranks.processes:
                process.kill()


def _run_rank(rank: int, job: Job, device: str, world: int, meeting: str, parent: int) -> None:
    die_with(parent)
    keep_memory()
    group = Group(rank, world, local_rank=rank)
    join_group(device, group, meeting)
    job(group=group)
    leave_group()
    end_rank(0)
