"""What changes while a model is trained: parameters, optimiser, schedule, best epoch."""

from __future__ import annotations

import copy
from dataclasses import asdict
from typing import Any

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig
from torchspeed.training.loop import LoopResult
from torchspeed.training.optimisers import make_optimiser, make_schedule
from torchspeed.training.results import EpochRecord

State = dict[str, Any]


class Trainee:
    """Everything that changes while training, with its state in one dictionary.

    Args:
        model: what is trained.
        config: how.

    Raises:
        TorchspeedError: no such optimiser.
    """

    def __init__(self, model: nn.Module, config: RunConfig) -> None:
        self.model = model
        self._clip_norm = config.clip_norm
        self.optimiser = make_optimiser(config, model.parameters())
        self.schedule = make_schedule(config, self.optimiser)
        # Scales the loss so that float16 gradients do not vanish; idle otherwise.
        device = torch.device(config.device).type
        self.scaler = torch.amp.GradScaler(device, enabled=config.precision == "16-mixed")
        self._parts: list[Any] = [model, self.optimiser, self.schedule, self.scaler]
        self._average: AveragedModel | None = None
        if config.ema is not None:
            self._average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(config.ema))
            self._parts.append(self._average)
        self.epochs: list[EpochRecord] = []
        self.loops: list[LoopResult] = []
        self.best_epoch: int | None = None
        """The epoch whose parameters are kept: least validation loss, or highest test accuracy."""
        self._best: dict[str, Any] = {}

    @property
    def tested(self) -> nn.Module:
        """The model that is tested: the average where there is one."""
        return self.model if self._average is None else self._average.module

    def update(self) -> None:
        """Move the parameters along the gradient, and what follows them."""
        if self._clip_norm is not None:
            self.scaler.unscale_(self.optimiser)
            nn.utils.clip_grad_norm_(self.model.parameters(), self._clip_norm)
        self.scaler.step(self.optimiser)
        self.scaler.update()
        if self._average is not None:
            self._average.update_parameters(self.model)

    def record(self, epoch: EpochRecord, loop: LoopResult) -> None:
        """Keep an epoch, and its parameters if none before was as good; move the rate on."""
        self.schedule.step()
        self.epochs.append(epoch)
        self.loops.append(loop)
        if epoch.is_better_than(self._best_record()):
            self.best_epoch = epoch.number
            self._best = copy.deepcopy(self.tested.state_dict())

    def best_parameters(self) -> dict[str, Any]:
        """State of the model after the best epoch."""
        return self._best

    def take_best(self) -> None:
        """Give the tested model the parameters of the best epoch."""
        self.tested.load_state_dict(self._best)

    def _best_record(self) -> EpochRecord | None:
        return None if self.best_epoch is None else self.epochs[self.best_epoch - 1]

    def state(self) -> State:
        """Parameters, moments, learning rate and epochs: what all ranks share."""
        return {
            "parts": [part.state_dict() for part in self._parts],
            "epochs": [asdict(record) for record in self.epochs],
            "best_epoch": self.best_epoch,
            "best": self._best,
        }

    def state_of_rank(self) -> State:
        """Random generators and measured steps: what each rank has of its own."""
        return {
            "generator": torch.get_rng_state(),
            "cuda_generators": torch.cuda.get_rng_state_all(),
            "loops": [asdict(loop) for loop in self.loops],
        }

    def restore(self, state: State, rank: int) -> None:
        """Take up the state that `load_checkpoint` read.

        Raises:
            TorchspeedError: the parameters do not fit the model.
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
        self.best_epoch, self._best = state["best_epoch"], state["best"]
