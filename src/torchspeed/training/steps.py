"""What one step does in each of the three modes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn, optim

from torchspeed.training.loop import StepResult
from torchspeed.training.phases import Phase, PhaseClock

Loss = Callable[[Tensor, Tensor], Tensor]
"""(output, target) to the mean loss of an item."""

MIXED = {"16-mixed": torch.float16, "bf16-mixed": torch.bfloat16}
"""Names that Lightning gave to number formats with float32 parameters to what products are in;
``32-true`` is float32 throughout."""

NOISE = 0.25
"""Deviation of the noise of smooth inference, BenchmarkJade's."""


@dataclass(frozen=True, slots=True)
class Network:
    """A model where it runs, with its loss and number format."""

    model: nn.Module
    loss: Loss
    device: torch.device
    precision: str = "32-true"

    def forward(self, inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs and their loss."""
        mixed = MIXED.get(self.precision)
        with torch.autocast(self.device.type, dtype=mixed, enabled=mixed is not None):
            outputs = self.model(inputs)
            return outputs, self.loss(outputs, targets)

    def place(self, batch: Any) -> tuple[Tensor, Tensor]:
        """Inputs and targets on the device."""
        inputs, targets = batch
        return (
            inputs.to(self.device, non_blocking=True),
            targets.to(self.device, non_blocking=True),
        )


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """Forward, loss, backward, optimiser."""

    network: Network
    optimiser: optim.Optimizer
    scaler: torch.amp.GradScaler

    def __call__(self, batch: Any, clock: PhaseClock) -> StepResult:
        """One batch of (inputs, targets)."""
        inputs, targets = self.network.place(batch)
        clock.end_of(Phase.PROCESSING)
        outputs, loss = self.network.forward(inputs, targets)
        clock.end_of(Phase.FORWARD)
        self.optimiser.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimiser)
        self.scaler.update()
        clock.end_of(Phase.BACKWARD)
        return StepResult(loss.detach(), outputs.detach(), targets)


@dataclass(frozen=True, slots=True)
class InferenceStep:
    """Forward and loss, no gradient."""

    network: Network

    @torch.inference_mode()
    def __call__(self, batch: Any, clock: PhaseClock) -> StepResult:
        """One batch of (inputs, targets)."""
        inputs, targets = self.network.place(batch)
        clock.end_of(Phase.PROCESSING)
        outputs, loss = self.network.forward(inputs, targets)
        clock.end_of(Phase.FORWARD)
        return StepResult(loss, outputs, targets)


class SmoothInferenceStep:
    """One item, repeated to a full batch with Gaussian noise, then forward."""

    def __init__(self, network: Network, batch_size: int, seed: int) -> None:
        self.network = network
        self.batch_size = batch_size
        self.generator = torch.Generator(network.device).manual_seed(seed)

    @torch.inference_mode()
    def __call__(self, batch: Any, clock: PhaseClock) -> StepResult:
        """One item (input, target) of the data set."""
        item, target = batch
        device = self.network.device
        item = item.to(device)
        inputs = item.unsqueeze(0).repeat(self.batch_size, *[1] * item.dim())
        inputs += NOISE * torch.randn(inputs.shape, device=device, generator=self.generator)
        targets = torch.as_tensor(target, device=device)
        targets = targets.expand(self.batch_size, *targets.shape)
        clock.end_of(Phase.PROCESSING)
        outputs, loss = self.network.forward(inputs, targets)
        clock.end_of(Phase.FORWARD)
        return StepResult(loss, outputs, targets)
