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


def make_schedule(config: RunConfig, optimiser: optim.Optimizer) -> lr_scheduler.LRScheduler:
    """Return the learning-rate schedule of a run, moved on after each epoch.

    cosine: to zero over its span; step: a tenth after each third of the span.
    """
    span = config.schedule_span
    if config.schedule == "cosine":
        return lr_scheduler.CosineAnnealingLR(optimiser, T_max=span)
    if config.schedule == "step":
        return lr_scheduler.StepLR(optimiser, step_size=max(1, span // 3), gamma=0.1)
    return lr_scheduler.LambdaLR(optimiser, lambda _count: 1.0)
