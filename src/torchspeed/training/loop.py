"""The one instrumented loop: training, inference and smooth inference run through it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from torchspeed.training.phases import Phase, PhaseClock, StepTimes

LossFunction = Callable[[Tensor, Tensor], Tensor]
"""Maps (output, target) to the mean loss of an item."""

Step = Callable[[Any, PhaseClock], tuple[Tensor, Tensor, Tensor]]
"""Processes a batch and marks the end of each phase after loading. Returns the mean loss of the
items, the outputs and the targets, still on the device."""


@dataclass(slots=True)
class LoopResult:
    """The results of a loop; warm-up steps count for loss and accuracy, but are not measured."""

    warmup: list[StepTimes] = field(default_factory=list)
    """The first steps, left out of the measurement."""
    steps: list[StepTimes] = field(default_factory=list)
    """The measured steps."""
    warmup_s: float = 0.0
    """Wall time of the warm-up."""
    wall_s: float = 0.0
    """Wall time of the measured steps and what lies between them."""
    cpu_s: float = 0.0
    """CPU time of this process, all its threads, in all steps."""
    measured_items: int = 0
    items: int = 0
    loss_sum: float = 0.0
    correct: int = 0

    @property
    def loss(self) -> float:
        """Mean loss of an item."""
        return self.loss_sum / self.items if self.items else math.nan

    @property
    def accuracy(self) -> float:
        """Share of items classified correctly, 0 to 1."""
        return self.correct / self.items if self.items else math.nan

    def total_s(self, *phases: Phase) -> float:
        """Seconds of some phases in all steps."""
        return sum(step[phase] for step in (*self.warmup, *self.steps) for phase in phases)


def run_loop(
    batches: Iterable[Any],
    step: Step,
    device: torch.device,
    *,
    limit: int | None = None,
    warmup: int = 0,
    on_step: Callable[[], None] = lambda: None,
) -> LoopResult:
    """Run ``step`` on each batch, with the time of each phase.

    Taking the next batch is the loading phase. The first ``warmup`` steps are left out of the
    times. ``on_step`` is called after each step, between phases.
    """
    result, clock = LoopResult(), PhaseClock(device)
    sizes: list[int] = []
    losses: list[Tensor] = []
    correct: list[Tensor] = []
    cpu_began, began = time.process_time(), time.perf_counter()
    source = iter(batches)
    while limit is None or len(sizes) < limit:
        clock.begin()
        batch = next(source, None)
        if batch is None:
            break
        clock.mark()
        loss, outputs, targets = step(batch, clock)
        sizes.append(len(targets))
        losses.append(loss)
        if not targets.is_floating_point():
            correct.append((outputs.argmax(1) == targets).sum())
        on_step()
        if len(sizes) == warmup:
            result.warmup_s = clock.wait() - began
    result.wall_s = clock.wait() - began - result.warmup_s
    result.cpu_s = time.process_time() - cpu_began
    times = clock.times()
    result.warmup, result.steps = times[:warmup], times[warmup:]
    result.items, result.measured_items = sum(sizes), sum(sizes[warmup:])
    # Reading a result waits for the device, so it is done once.
    if losses:
        means = torch.stack(losses).tolist()
        result.loss_sum = sum(mean * items for mean, items in zip(means, sizes, strict=True))
    if correct:
        result.correct = int(torch.stack(correct).sum())
    return result
