"""Parameters that the ranks share out (FSDP), with torch's ``fully_shard``.

Each rank keeps its part of every parameter, gradient and moment. What a layer needs is gathered
before it computes and dropped afterwards. Imported only where it is asked for: torch has it since
2.6, and suites train with older releases.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import torch
import torch.distributed as dist
from torch import nn, optim
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard

_ON_LEAD = StateDictOptions(full_state_dict=True, cpu_offload=True)
"""Whole tensors in the memory of the leading rank's host; the other ranks get nothing."""
_FROM_LEAD = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)


class ShardedModel:
    """A model of which each rank has a part. All ranks have to call each method.

    What each ``nn.Sequential`` among the children holds is gathered for it alone, as for the
    stages of a ResNet; all other parameters are gathered for the whole forward or backward pass.

    Args:
        model: the same on all ranks; changed in place.
        device: where it lies.
        world: number of ranks.
    """

    def __init__(self, model: nn.Module, device: torch.device, world: int) -> None:
        self._model = model
        mesh = init_device_mesh(device.type, (world,))
        for child in model.children():
            if isinstance(child, nn.Sequential) and list(child.parameters()):
                fully_shard(child, mesh=mesh, reshard_after_forward=True)
        fully_shard(model, mesh=mesh, reshard_after_forward=True)
        self._parts = [module for module in model.modules() if isinstance(module, FSDPModule)]

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Have all parameters on every rank, so that ranks may pass different numbers of batches.

        Running statistics, which each rank takes of its own batches, become those of the leading
        rank, as in data parallel training.
        """
        for buffer in self._model.buffers():
            dist.broadcast(buffer, src=0)
        for part in self._parts:
            part.set_reshard_after_forward(False, recurse=False)
            part.unshard()
        try:
            yield
        finally:
            for part in self._parts:
                part.reshard()
                part.set_reshard_after_forward(True, recurse=False)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Add gradients up on each rank without exchanging them."""
        root = cast("FSDPModule", self._model)
        root.set_requires_gradient_sync(False)
        try:
            yield
        finally:
            root.set_requires_gradient_sync(True)

    def state_dict(self) -> dict[str, Any]:
        """Return whole parameters on the leading rank, nothing on the others."""
        return get_model_state_dict(self._model, options=_ON_LEAD)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Give each rank its part of what the leading rank has."""
        set_model_state_dict(self._model, state, options=_FROM_LEAD)

    def state_of(self, optimiser: optim.Optimizer) -> ShardedOptimiser:
        """Return what saves and loads the moments of the optimiser of this model."""
        return ShardedOptimiser(self._model, optimiser)


class ShardedOptimiser:
    """The state of the optimiser of a model that is shared out. All ranks have to call."""

    def __init__(self, model: nn.Module, optimiser: optim.Optimizer) -> None:
        self._model = model
        self._optimiser = optimiser

    def state_dict(self) -> dict[str, Any]:
        """Return whole moments on the leading rank, nothing on the others."""
        return get_optimizer_state_dict(self._model, self._optimiser, options=_ON_LEAD)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Give each rank its part of what the leading rank has."""
        set_optimizer_state_dict(self._model, self._optimiser, state, options=_FROM_LEAD)
