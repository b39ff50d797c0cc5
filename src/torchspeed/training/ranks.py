"""The processes that train together: those that torchrun started, or this one alone."""

import os
from typing import Any

import torch
import torch.distributed as dist

from torchspeed.errors import TorchspeedError


def join(device: str) -> None:
    """Meet the other ranks, if torchrun started this process: by NCCL on GPUs, gloo on CPUs.

    Raises:
        TorchspeedError: the others cannot be reached.
    """
    if "WORLD_SIZE" not in os.environ:
        return
    on_gpu = device.startswith("cuda")
    if on_gpu:
        torch.cuda.set_device(own_device(device))
    try:
        dist.init_process_group("nccl" if on_gpu else "gloo")
    except (RuntimeError, ValueError, dist.DistError) as error:
        raise TorchspeedError(
            f"this rank could not meet the others ({str(error).splitlines()[0]}); check "
            "MASTER_ADDR, MASTER_PORT and the network between the nodes"
        ) from None


def leave() -> None:
    """Wait until all ranks are done."""
    if dist.is_initialized():
        dist.barrier()
        dist.destroy_process_group()


def rank() -> int:
    """Return the rank of this process; 0 reports."""
    return dist.get_rank() if dist.is_initialized() else 0


def world() -> int:
    """Return the number of ranks."""
    return dist.get_world_size() if dist.is_initialized() else 1


def share(items: int) -> range:
    """Return the indices of this rank's share of a number of items, in order."""
    return range(rank(), items, world())


def own_device(device: str) -> str:
    """Return the device of this rank: each on a node has the GPU of its local rank."""
    local = os.environ.get("LOCAL_RANK")
    return f"cuda:{local}" if device == "cuda" and local is not None else device


def gather(value: Any) -> list[Any]:
    """Return the ``value`` of every rank, in their order, on every rank."""
    values: list[Any] = [value] * world()
    if world() > 1:
        dist.all_gather_object(values, value)
    return values
