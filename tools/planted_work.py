"""Extra work for models: ``install`` makes every workload's model do some.

`tools.planted_slowdown` copies this file into commits of a scratch clone, so it stands on
torch and the package alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

from torchspeed.workloads import Workload

Operations = Mapping[tuple[str, bool], int]
"""(workload, whether in training mode) to small operations in each forward pass."""


class ExtraWork:
    """So many small operations before a forward pass, outside of the graph."""

    def __init__(self, in_evaluation: int, in_training: int) -> None:
        self._numbers = torch.ones(64)
        self.in_evaluation = in_evaluation
        self.in_training = in_training

    def __call__(self, model: nn.Module, inputs: object) -> None:
        """Work: a hook of `nn.Module.register_forward_pre_hook`."""
        numbers = self._numbers
        with torch.no_grad():
            for _ in range(self.in_training if model.training else self.in_evaluation):
                torch.neg(numbers, out=numbers)


def install(operations: Operations) -> None:
    """Give extra work to every model that a workload makes from now on."""
    make = Workload.create_model

    def create_model(self: Workload, seed: int = 0) -> nn.Module:
        model = make(self, seed)
        work = ExtraWork(
            operations.get((self.name, False), 0), operations.get((self.name, True), 0)
        )
        model.register_forward_pre_hook(work)
        return model

    Workload.create_model = create_model  # type: ignore[method-assign]
