"""The one instrumented loop: training, inference and smooth inference run through it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from torchspeed.training.phases import Phase, PhaseClock, StepTimes


@dataclass(frozen=True, slots=True)
class StepResult:
    """The results of a step, still on the device."""

    loss: Tensor
    """Mean over the items."""
    outputs: Tensor
    """(items, classes), or (items, values) of a forecast."""
    targets: Tensor
    """Classes (items,), or (items, values)."""


Step = Callable[[Any, PhaseClock], StepResult]
"""Processes a batch and marks the end of each phase after loading."""


@dataclass(slots=True)
class LoopResult:
    """The results of a loop; warm-up steps count for loss and accuracy, but are not timed."""

    warmup: list[StepTimes] = field(default_factory=list)
    """The first steps, left out of the measurement."""
    steps: list[StepTimes] = field(default_factory=list)
    """The measured steps."""
    warmup_s: float = 0.0
    """Wall time of the warm-up."""
    wall_s: float = 0.0
    """Wall time of the measured steps and what lies between them."""
    process_s: float = 0.0
    """CPU time of this process, all its threads, in all steps."""
    items: int = 0
    measured_items: int = 0
    loss_sum: float = 0.0
    correct: int = 0
    not_finite_step: int | None = None
    """The first step, from 0, whose loss is infinite or NaN; None where all are finite."""

    @property
    def loss(self) -> float:
        """Mean loss of an item."""
        return self.loss_sum / self.items if self.items else math.nan

    @property
    def accuracy(self) -> float:
        """Share of items classified correctly, 0 to 1."""
        return self.correct / self.items if self.items else math.nan


def run_loop(
    batches: Iterator[Any],
    step: Step,
    clock: PhaseClock,
    *,
    limit: int | None = None,
    warmup: int = 0,
    on_step: Callable[[int, StepTimes], None] = lambda _items, _times: None,
) -> LoopResult:
    """Run ``step`` on each batch, with the time of each phase.

    Taking the next batch is the loading phase. The first ``warmup`` steps are left out of the
    times, and ``on_step`` is called with the items and times of each step, warm-up included.
    """
    result = LoopResult()
    sizes: list[int] = []
    losses: list[Tensor] = []
    correct: list[Tensor] = []
    done = 0
    process_began = time.process_time()
    began = ended = time.perf_counter()
    while limit is None or done < limit:
        clock.start()
        batch = next(batches, None)
        if batch is None:
            break
        clock.end_of(Phase.LOADING)
        outcome = step(batch, clock)
        times = clock.stop()
        items = len(outcome.targets)
        sizes.append(items)
        losses.append(outcome.loss)
        correct.append(_count_correct(outcome))
        clock.settle()
        if done < warmup:
            result.warmup.append(times)
        else:
            result.steps.append(times)
            result.measured_items += items
        on_step(items, times)
        done += 1
        if done <= warmup:
            clock.finish()
        now = time.perf_counter()  # one reading for phases and wall time, so they add up
        if clock.timed:
            times[Phase.BOOKKEEPING] = now - ended - sum(times.values())
        ended = now
        if done <= warmup:
            result.warmup_s = now - began
        else:  # here, so that what follows the last step is not counted
            result.wall_s = now - began - result.warmup_s
    if result.steps and not clock.timed:  # a timed step has waited already
        waited = time.perf_counter()
        clock.finish()
        result.wall_s += time.perf_counter() - waited
    result.process_s = time.process_time() - process_began
    _add_up(result, sizes, losses, correct)
    return result


def _add_up(
    result: LoopResult, sizes: list[int], losses: list[Tensor], correct: list[Tensor]
) -> None:
    """Sum up the steps after the loop, because reading a result waits for the device."""
    if not sizes:
        return
    result.items = sum(sizes)
    result.correct = int(torch.stack(correct).sum())
    for step, (items, loss) in enumerate(zip(sizes, torch.stack(losses).tolist(), strict=True)):
        result.loss_sum += loss * items
        if result.not_finite_step is None and not math.isfinite(loss):
            result.not_finite_step = step


def _count_correct(outcome: StepResult) -> Tensor:
    """Count the items classified correctly; 0 where targets are no classes."""
    if outcome.targets.is_floating_point():
        return torch.zeros((), dtype=torch.int64, device=outcome.targets.device)
    return (outcome.outputs.argmax(1) == outcome.targets).sum()
