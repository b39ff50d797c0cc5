"""Optimisers and learning-rate schedules by name, all of them torch's own."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from torch import nn, optim
from torch.optim import lr_scheduler

from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig

_UNFIT = {"lbfgs", "sparseadam", "muon"}
"""Optimisers that need a closure, sparse gradients, or parameters sorted by shape."""

OPTIMISERS: dict[str, Callable[..., optim.Optimizer]] = {
    name.lower(): kind
    for name, kind in vars(optim).items()
    if inspect.isclass(kind)
    and issubclass(kind, optim.Optimizer)
    and kind is not optim.Optimizer
    and name.lower() not in _UNFIT
}
"""Classes of ``torch.optim`` by their names in lower case."""

_WARMUP_BEGINS = 0.01
"""Share of the rate that a warm-up begins with, as in torchvision's references."""


def make_optimiser(config: RunConfig, parameters: Iterable[nn.Parameter]) -> optim.Optimizer:
    """Return the optimiser of a run; momentum is for those that have one.

    Raises:
        TorchspeedError: there is none of that name; the nearest are offered.
    """
    name = config.optimiser.lower()
    if name not in OPTIMISERS:
        near = difflib.get_close_matches(name, OPTIMISERS, n=3) or sorted(OPTIMISERS)
        raise TorchspeedError(f"no optimiser {config.optimiser!r}; give {' or '.join(near)}")
    kind = OPTIMISERS[name]
    settings: dict[str, Any] = {"momentum": config.momentum, "weight_decay": config.weight_decay}
    if name == "rmsprop":  # its momentum is another thing, off by default
        del settings["momentum"]
    taken = inspect.signature(kind).parameters
    settings = {option: value for option, value in settings.items() if option in taken}
    if not settings.get("weight_decay"):  # AdamW has a default of its own
        settings.pop("weight_decay", None)
    return kind(parameters, lr=config.rate, **settings)


def make_schedule(
    config: RunConfig, optimiser: optim.Optimizer, updates: int
) -> lr_scheduler.LRScheduler:
    """Return the learning-rate schedule of a run, moved on after each epoch or step.

    cosine: to zero over its span; step: a tenth after each third of the span.

    Args:
        config: what the run does.
        optimiser: whose rate to move.
        updates: steps of the optimiser in an epoch.

    Raises:
        TorchspeedError: the warm-up is as long as the span.
    """
    unit = updates if config.schedule_unit == "step" else 1
    warmup, span = config.rate_warmup * unit, config.schedule_span * unit
    if warmup and warmup >= span:
        raise TorchspeedError(
            f"--rate-warmup {config.rate_warmup} leaves nothing of {config.schedule_span} epochs; "
            "give fewer, or more --epochs"
        )
    main = _after_warmup(config.schedule, optimiser, span - warmup)
    if not warmup:
        return main
    rise = lr_scheduler.LinearLR(optimiser, start_factor=_WARMUP_BEGINS, total_iters=warmup)
    return lr_scheduler.SequentialLR(optimiser, [rise, main], milestones=[warmup])


def _after_warmup(
    schedule: str, optimiser: optim.Optimizer, span: int
) -> lr_scheduler.LRScheduler:
    if schedule == "constant":
        return lr_scheduler.LambdaLR(optimiser, lambda _count: 1.0)
    if schedule == "cosine":
        return lr_scheduler.CosineAnnealingLR(optimiser, T_max=span)
    if schedule == "step":
        return lr_scheduler.StepLR(optimiser, step_size=max(1, span // 3), gamma=0.1)
    raise ValueError(f"schedule must be constant, cosine or step, got {schedule!r}")
