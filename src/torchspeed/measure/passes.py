"""The two passes of a workload, built once and ready to be timed."""

from __future__ import annotations

from functools import lru_cache

import torch

from torchspeed.workloads import get_workload


class Passes:
    """A workload's model and inputs on a device, with a forward and a backward pass.

    The passes return nothing and synchronise nothing: the clock does
    (`torchspeed.measure.clocks`).
    """

    def __init__(self, workload: str, device: str, batch: int | None = None) -> None:
        """Build model, inputs and targets.

        Raises:
            ValueError: no such workload, or ``device`` is not on this machine.
        """
        recipe = get_workload(workload)
        self._objective = recipe.objective
        self._inputs = recipe.example_inputs(batch, device)
        self._targets = recipe.example_targets(batch, device)
        self._model = recipe.create_model().to(self._inputs.device).eval()
        # DSANet as Flux has it owns parameters that nothing reads.
        self._parameters = [p for p in self._model.parameters() if p.requires_grad]

    @torch.inference_mode()
    def forward(self) -> None:
        """One inference: evaluation mode, no graph."""
        self._set_training(False)
        self._model(self._inputs)

    def backward(self) -> None:
        """One forward in training mode and the gradient of the objective.

        With respect to every parameter that learns and, as FluxBench has it, the input.
        """
        self._set_training(True)
        output = self._model(self._inputs)
        objective = self._objective(output, self._targets)
        torch.autograd.grad(objective, [*self._parameters, self._inputs])

    def _set_training(self, training: bool) -> None:
        # Walking the modules costs 0.1 ms in the larger ones: only where it changes anything.
        if self._model.training is not training:
            self._model.train(training)
            self._inputs.requires_grad_(training)


@lru_cache(maxsize=1)
def passes(workload: str, device: str, batch: int | None = None) -> Passes:
    """The passes of a case, built at the first call and kept while the case runs.

    asv calls ``setup`` before every sample; without this, so would we build.
    """
    return Passes(workload, device, batch)
