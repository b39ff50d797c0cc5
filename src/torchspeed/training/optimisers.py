"""Optimisers and learning-rate schedules by name."""

from __future__ import annotations

from collections.abc import Iterable

from torch import nn, optim

OPTIMISERS = ("sgd", "adam")
SCHEDULES = ("constant", "cosine", "step")
"""cosine: to zero over all epochs; step: a tenth after each third of the epochs."""


def make_optimiser(
    name: str,
    parameters: Iterable[nn.Parameter],
    *,
    rate: float,
    momentum: float,
    weight_decay: float,
) -> optim.Optimizer:
    """One of ``OPTIMISERS``; Adam knows no ``momentum``."""
    if name == "sgd":
        return optim.SGD(parameters, lr=rate, momentum=momentum, weight_decay=weight_decay)
    if name == "adam":
        return optim.Adam(parameters, lr=rate, weight_decay=weight_decay)
    raise ValueError(f"optimiser must be one of {', '.join(OPTIMISERS)}, got {name!r}")


def make_schedule(
    name: str, optimiser: optim.Optimizer, epochs: int
) -> optim.lr_scheduler.LRScheduler:
    """One of ``SCHEDULES``, moved on after each epoch."""
    if name == "constant":
        return optim.lr_scheduler.LambdaLR(optimiser, lambda _epoch: 1.0)
    if name == "cosine":
        return optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=epochs)
    if name == "step":
        return optim.lr_scheduler.StepLR(optimiser, step_size=max(1, epochs // 3), gamma=0.1)
    raise ValueError(f"schedule must be one of {', '.join(SCHEDULES)}, got {name!r}")
