"""The state of a training: parameters, optimiser, schedule, best epoch.

Optimisers, schedules and gradient scaling are torch's own.
"""

from __future__ import annotations

import copy
import difflib
import inspect
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

import torch
from torch import nn, optim
from torch.optim import lr_scheduler

from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig
from torchspeed.training.loop import LoopResult
from torchspeed.training.results import EpochRecord

_UNFIT = {"optimizer", "lbfgs", "sparseadam", "muon"}
"""The base class, and those that need a closure, sparse gradients, or matrices."""

OPTIMISERS: dict[str, Callable[..., optim.Optimizer]] = {
    name.lower(): kind
    for name, kind in vars(optim).items()
    if inspect.isclass(kind) and issubclass(kind, optim.Optimizer) and name.lower() not in _UNFIT
}
"""Classes of ``torch.optim`` by their names in lower case."""


class TrainingState:
    """Everything that changes while training, with its state in one dictionary."""

    def __init__(self, model: nn.Module, config: RunConfig) -> None:
        self.model = model
        self._clip_norm = config.clip_norm
        self.optimiser = _optimiser(config, model.parameters())
        self.schedule = _schedule(config, self.optimiser)
        # Scales the loss so that float16 gradients do not vanish; idle otherwise.
        device = torch.device(config.device).type
        self.scaler = torch.amp.GradScaler(device, enabled=config.precision == "16-mixed")
        self._parts: list[Any] = [model, self.optimiser, self.schedule, self.scaler]
        self.epochs: list[EpochRecord] = []
        self.loops: list[LoopResult] = []
        self.best_epoch: int | None = None
        """The epoch with the highest score, whose parameters are kept."""
        self.best: dict[str, Any] = {}
        """State of the model after that epoch."""

    def update(self) -> None:
        """Move the parameters along the gradient."""
        if self._clip_norm is not None:
            self.scaler.unscale_(self.optimiser)
            nn.utils.clip_grad_norm_(self.model.parameters(), self._clip_norm)
        self.scaler.step(self.optimiser)
        self.scaler.update()

    def record(self, epoch: EpochRecord, loop: LoopResult) -> None:
        """Record an epoch, keep its parameters if it is the best so far, and advance the rate."""
        self.schedule.step()
        self.epochs.append(epoch)
        self.loops.append(loop)
        best = None if self.best_epoch is None else self.epochs[self.best_epoch - 1].score
        if epoch.score is not None and (best is None or epoch.score > best):
            self.best_epoch = epoch.number
            self.best = copy.deepcopy(self.model.state_dict())

    def shared_state(self) -> dict[str, Any]:
        """Parameters, moments, learning rate and epochs, which all ranks share."""
        return {
            "parts": [part.state_dict() for part in self._parts],
            "epochs": [asdict(record) for record in self.epochs],
            "best_epoch": self.best_epoch,
            "best": self.best,
        }

    def rank_state(self) -> dict[str, Any]:
        """Random generators and measured steps, which each rank has for itself."""
        return {
            "generator": torch.get_rng_state(),
            "cuda_generators": torch.cuda.get_rng_state_all(),
            "loops": [asdict(loop) for loop in self.loops],
        }

    def restore(self, state: dict[str, Any], rank: int) -> None:
        """Take up the state that `load_checkpoint` read.

        Raises:
            TorchspeedError: its parameters do not fit the model.
        """
        try:
            for part, values in zip(self._parts, state["parts"], strict=True):
                part.load_state_dict(values)
        except (RuntimeError, ValueError, KeyError) as error:
            raise TorchspeedError(
                "the checkpoint's parameters do not fit the model "
                f"({str(error).splitlines()[0].rstrip(': ')}); it was written by another version "
                "of the model, so begin anew with another --checkpoint"
            ) from None
        own = state["ranks"][rank]
        torch.set_rng_state(own["generator"])
        torch.cuda.set_rng_state_all(own["cuda_generators"])
        self.epochs = [EpochRecord(**record) for record in state["epochs"]]
        self.loops = [LoopResult(**values) for values in own["loops"]]
        self.best_epoch, self.best = state["best_epoch"], state["best"]


def _optimiser(config: RunConfig, parameters: Iterable[nn.Parameter]) -> optim.Optimizer:
    """Return the optimiser of a run; momentum is for those that have one."""
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


def _schedule(config: RunConfig, optimiser: optim.Optimizer) -> lr_scheduler.LRScheduler:
    """Return the learning-rate schedule of a run, moved on after each epoch."""
    if config.schedule == "cosine":
        return lr_scheduler.CosineAnnealingLR(optimiser, T_max=config.schedule_span)
    return lr_scheduler.ConstantLR(optimiser, factor=1.0)
