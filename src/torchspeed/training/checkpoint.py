"""A training run's state after an epoch, enough to go on as if nothing had happened."""

from __future__ import annotations

import io
import pickle
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import nn, optim

from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig
from torchspeed.training.loop import LoopResult
from torchspeed.training.phases import Phase
from torchspeed.training.results import EpochRecord
from torchspeed.training.saving import save_whole

FREE_FIELDS = {"epochs", "target_accuracy", "warmup"}
"""What may differ when a run is taken up again: how far it goes, what is measured."""

State = dict[str, Any]


class Trainee:
    """Everything that changes while training, with its state in one dictionary."""

    def __init__(
        self,
        model: nn.Module,
        optimiser: optim.Optimizer,
        schedule: optim.lr_scheduler.LRScheduler,
        scaler: torch.amp.GradScaler,
    ) -> None:
        self._parts: tuple[Any, ...] = (model, optimiser, schedule, scaler)
        self.epochs: list[EpochRecord] = []
        self.loops: list[LoopResult] = []

    def state(self) -> State:
        """Parameters, moments, rate, generators, and what was measured so far."""
        return {
            "parts": [part.state_dict() for part in self._parts],
            "generator": torch.get_rng_state(),
            "cuda_generators": torch.cuda.get_rng_state_all(),
            "epochs": [asdict(record) for record in self.epochs],
            "loops": [_plain(loop) for loop in self.loops],
        }

    def restore(self, state: State) -> None:
        """The inverse of ``state``."""
        for part, values in zip(self._parts, state["parts"], strict=True):
            part.load_state_dict(values)
        torch.set_rng_state(state["generator"])
        torch.cuda.set_rng_state_all(state["cuda_generators"])
        self.epochs = [EpochRecord(**record) for record in state["epochs"]]
        self.loops = [_loop(values) for values in state["loops"]]


def save_checkpoint(path: Path, config: RunConfig, trainee: Trainee) -> None:
    """Write the state whole; an older checkpoint stays until the new one is.

    Raises:
        TorchspeedError: it cannot be written.
    """
    content = io.BytesIO()
    torch.save({"config": config.as_dict(), "state": trainee.state()}, content)
    save_whole(path, content.getvalue())


def load_checkpoint(path: Path, config: RunConfig) -> State:
    """Read the state of a run with this configuration.

    Raises:
        TorchspeedError: missing or damaged file, or another run's.
    """
    try:
        saved = torch.load(path, weights_only=True, map_location="cpu")
        other = RunConfig.from_dict(saved["config"])
        state: State = saved["state"]
    except FileNotFoundError:
        raise TorchspeedError(f"no checkpoint {path}; leave out --resume to begin one") from None
    except (RuntimeError, pickle.UnpicklingError, EOFError, OSError, KeyError, TypeError):
        raise TorchspeedError(
            f"{path} is damaged or no checkpoint of this version; delete it and begin anew"
        ) from None
    differing = [name for name in config.differences(other) if name not in FREE_FIELDS]
    if differing:
        name = differing[0]
        raise TorchspeedError(
            f"{path} is of a run with another {name} ({getattr(other, name)!r}, now "
            f"{getattr(config, name)!r}); give the same, or another --checkpoint"
        )
    return state


def _plain(loop: LoopResult) -> State:
    values = asdict(loop)
    for key in ("warmup", "steps"):
        values[key] = [[step[phase] for phase in Phase] for step in values[key]]
    return values


def _loop(values: State) -> LoopResult:
    timed = {
        key: [dict(zip(Phase, step, strict=True)) for step in values[key]]
        for key in ("warmup", "steps")
    }
    return LoopResult(**{**values, **timed})
