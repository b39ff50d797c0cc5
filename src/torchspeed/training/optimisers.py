"""Optimisers and learning-rate schedules by name."""

from __future__ import annotations

from collections.abc import Iterable

from torch import nn, optim

from torchspeed.training.config import RunConfig


def make_optimiser(config: RunConfig, parameters: Iterable[nn.Parameter]) -> optim.Optimizer:
    """The optimiser of a run; Adam ignores ``momentum``."""
    rate, decay = config.rate, config.weight_decay
    if config.optimiser == "sgd":
        return optim.SGD(parameters, lr=rate, momentum=config.momentum, weight_decay=decay)
    if config.optimiser == "adam":
        return optim.Adam(parameters, lr=rate, weight_decay=decay)
    raise ValueError(f"optimiser must be sgd or adam, got {config.optimiser!r}")


def make_schedule(config: RunConfig, optimiser: optim.Optimizer) -> optim.lr_scheduler.LRScheduler:
    """The learning-rate schedule of a run, moved on after each epoch.

    cosine: to zero over its span; step: a tenth after each third of the span.
    """
    span = config.schedule_span
    if config.schedule == "constant":
        return optim.lr_scheduler.LambdaLR(optimiser, lambda _epoch: 1.0)
    if config.schedule == "cosine":
        return optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=span)
    if config.schedule == "step":
        return optim.lr_scheduler.StepLR(optimiser, step_size=max(1, span // 3), gamma=0.1)
    raise ValueError(f"schedule must be constant, cosine or step, got {config.schedule!r}")
