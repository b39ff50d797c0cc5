"""The processes that train together: one alone, or a rank on each device."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NoReturn

import torch
import torch.distributed as dist
from torch.multiprocessing.spawn import (
    ProcessExitedException,
    ProcessRaisedException,
    start_processes,
)

from torchspeed.errors import TorchspeedError
from torchspeed.measure.processes import die_with, keep_memory

TIMEOUT = timedelta(minutes=10)
"""Time that a rank waits for another before it gives up; NCCL's own default."""

_RAISED = "torchspeed.errors.TorchspeedError: "


@dataclass(frozen=True, slots=True)
class Group:
    """The rank of this process among those that train together."""

    rank: int = 0
    world: int = 1
    local_rank: int = 0
    """Rank among the processes of this node, which is the index of its GPU."""

    @property
    def leads(self) -> bool:
        """Whether this is the rank that reports."""
        return self.rank == 0

    def gather(self, value: Any) -> list[Any]:
        """Return the ``value`` of every rank, in their order, on every rank."""
        if self.world == 1:
            return [value]
        values: list[Any] = [None] * self.world
        dist.all_gather_object(values, value)
        return values

    def device(self, kind: str) -> str:
        """Return the device of this rank: ``cpu``, or the GPU with its local rank."""
        return f"cuda:{self.local_rank}" if self.world > 1 and kind == "cuda" else kind


def launched_group() -> Group | None:
    """Return the rank that torchrun, or a launcher like it, gave this process, if one did."""
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        return None
    return Group(
        rank=int(os.environ["RANK"]),
        world=int(os.environ["WORLD_SIZE"]),
        local_rank=int(os.environ.get("LOCAL_RANK", "0")),
    )


def work_as_rank(
    job: Callable[..., object], device: str, group: Group, meeting: str = "env://"
) -> NoReturn:
    """Work as one rank of a group, and end this process once all ranks are done.

    By default ranks meet at the address in torchrun's environment variables; they communicate by
    gloo on CPUs and by NCCL on GPUs.

    Raises:
        TorchspeedError: the other ranks cannot be reached.
    """
    on_gpu = device.startswith("cuda")
    if on_gpu:
        torch.cuda.set_device(group.local_rank)
    try:
        dist.init_process_group(
            "nccl" if on_gpu else "gloo",
            init_method=meeting,
            rank=group.rank,
            world_size=group.world,
            timeout=TIMEOUT,
        )
    except (RuntimeError, ValueError, dist.DistError) as error:
        raise TorchspeedError(
            f"rank {group.rank} could not meet the others ({str(error).splitlines()[0]}); check "
            "MASTER_ADDR, MASTER_PORT and the network between the nodes"
        ) from None
    job(group=group)
    dist.barrier()
    dist.destroy_process_group()
    sys.stdout.flush()
    sys.stderr.flush()
    # A replicated model keeps the group's threads alive. When Python ends they abort the process
    # now and then ("terminate called without an active exception"): a good run would count as
    # failed.
    os._exit(0)


def launch(job: Callable[..., object], device: str, devices: int) -> None:
    """Run ``job`` in a rank on each device, and wait for them; torch stops all when one fails.

    ``job`` has to be importable by name, and is called with the ``group`` of its rank.

    Raises:
        TorchspeedError: a rank failed.
    """
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


def _run_rank(
    rank: int, job: Callable[..., object], device: str, world: int, meeting: str, parent: int
) -> None:
    die_with(parent)
    keep_memory()
    work_as_rank(job, device, Group(rank, world, local_rank=rank), meeting)
