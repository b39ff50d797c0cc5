"""One step in each of the three modes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from torchspeed.training.loop import StepResult
from torchspeed.training.phases import Phase, PhaseClock
from torchspeed.training.state import TrainingState

Loss = Callable[[Tensor, Tensor], Tensor]
"""Maps (output, target) to the mean loss of an item."""

MIXED = {"16-mixed": torch.float16, "bf16-mixed": torch.bfloat16}
"""Format of matrix products, by Lightning's name of a precision with float32 parameters;
``32-true`` is float32 throughout."""

NOISE = 0.25
"""Standard deviation of the noise in smooth inference, as in BenchmarkJade."""


@dataclass(frozen=True, slots=True)
class Network:
    """A model where it runs, with its loss, number format and layout."""

    model: nn.Module
    loss: Loss
    device: torch.device
    precision: str = "32-true"
    channels_last: bool = False

    def forward(self, inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Return the outputs and their loss."""
        mixed = MIXED.get(self.precision)
        with torch.autocast(self.device.type, dtype=mixed, enabled=mixed is not None):
            outputs = self.model(inputs)
            return outputs, self.loss(outputs, targets)

    def place(self, batch: Any) -> tuple[Tensor, Tensor]:
        """Return inputs and targets, moved to the device."""
        inputs, targets = batch
        inputs = inputs.to(self.device, non_blocking=True)
        if self.channels_last:
            inputs = inputs.to(memory_format=torch.channels_last)
        return inputs, targets.to(self.device, non_blocking=True)


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """Forward, loss, backward, and the optimiser."""

    network: Network
    """Network, with the loss that training minimises."""
    state: TrainingState
    """Updates the parameters."""

    def __call__(self, batch: Any, clock: PhaseClock) -> StepResult:
        """Run one batch of (inputs, targets)."""
        inputs, targets = self.network.place(batch)
        clock.end_of(Phase.PROCESSING)
        outputs, loss = self.network.forward(inputs, targets)
        clock.end_of(Phase.FORWARD)
        self.state.optimiser.zero_grad()
        self.state.scaler.scale(loss).backward()
        self.state.update()
        clock.end_of(Phase.BACKWARD)
        return StepResult(loss.detach(), outputs.detach(), targets)


class InferenceStep:
    """Forward and loss, no gradient."""

    def __init__(self, network: Network) -> None:
        self.network = network

    @torch.inference_mode()
    def __call__(self, batch: Any, clock: PhaseClock) -> StepResult:
        """Run one batch of (inputs, targets)."""
        inputs, targets = self.place(batch)
        clock.end_of(Phase.PROCESSING)
        outputs, loss = self.network.forward(inputs, targets)
        clock.end_of(Phase.FORWARD)
        return StepResult(loss, outputs, targets)

    def place(self, batch: Any) -> tuple[Tensor, Tensor]:
        """Return inputs and targets, moved to the device."""
        return self.network.place(batch)


class SmoothInferenceStep(InferenceStep):
    """One item (input, target), repeated to a full batch with Gaussian noise, then forward."""

    def __init__(self, network: Network, batch_size: int, seed: int) -> None:
        super().__init__(network)
        self.batch_size = batch_size
        self.generator = torch.Generator(network.device).manual_seed(seed)

    def place(self, batch: Any) -> tuple[Tensor, Tensor]:
        """Repeat an item to a noisy batch on the device."""
        item, target = batch
        device = self.network.device
        inputs = item.to(device).unsqueeze(0).repeat(self.batch_size, *[1] * item.dim())
        inputs += NOISE * torch.randn(inputs.shape, device=device, generator=self.generator)
        targets = torch.as_tensor(target, device=device)
        return self.network.place((inputs, targets.expand(self.batch_size, *targets.shape)))
