"""A training run's state after an epoch, from which it can be resumed exactly.

A file is a line with the format, a line with the SHA-256 of the rest in hexadecimal, and what
``torch.save`` writes.
"""

from __future__ import annotations

import hashlib
import io
import pickle
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import nn

from torchspeed.errors import TorchspeedError
from torchspeed.files import write_whole
from torchspeed.training.config import RunConfig
from torchspeed.training.loop import LoopResult
from torchspeed.training.optimisers import make_optimiser, make_schedule
from torchspeed.training.results import EpochRecord

FREE_FIELDS = {"epochs", "schedule_epochs", "target_accuracy", "warmup"}
"""Fields that may differ when a run is resumed. The span of the schedule is checked apart."""

_FORMAT = b"torchspeed checkpoint 3\n"

State = dict[str, Any]


class Trainee:
    """Everything that changes while training, with its state in one dictionary."""

    def __init__(self, model: nn.Module, config: RunConfig) -> None:
        self.optimiser = make_optimiser(config, model.parameters())
        self.schedule = make_schedule(config, self.optimiser)
        # Scales the loss so that float16 gradients do not vanish; idle otherwise.
        device = torch.device(config.device).type
        self.scaler = torch.amp.GradScaler(device, enabled=config.precision == "16-mixed")
        self._parts: tuple[Any, ...] = (model, self.optimiser, self.schedule, self.scaler)
        self.epochs: list[EpochRecord] = []
        self.loops: list[LoopResult] = []

    def state(self) -> State:
        """Parameters, moments, learning rate and epochs: what all ranks share."""
        return {
            "parts": [part.state_dict() for part in self._parts],
            "epochs": [asdict(record) for record in self.epochs],
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


def check_new(path: Path) -> None:
    """Refuse to begin a run whose checkpoint would replace a file that exists.

    Raises:
        TorchspeedError: there is such a file.
    """
    if path.exists():
        raise TorchspeedError(
            f"{path} exists already; give --resume to continue that run, another --checkpoint, or "
            "delete the file"
        )


def save_checkpoint(path: Path, config: RunConfig, trainee: Trainee, ranks: list[State]) -> None:
    """Write the state completely, then replace the older checkpoint.

    Args:
        path: the file.
        config: what the run does.
        trainee: of any rank.
        ranks: `Trainee.state_of_rank` of every rank, in their order.

    Raises:
        OSError: it cannot be written.
    """
    content = io.BytesIO()
    state = trainee.state() | {"ranks": ranks}
    torch.save({"config": config.as_dict(), "state": state}, content)
    body = content.getvalue()
    digest = hashlib.sha256(body).hexdigest().encode() + b"\n"
    write_whole(path, _FORMAT + digest + body)


def load_checkpoint(path: Path, config: RunConfig, world: int) -> State:
    """Read the state of a run with this configuration.

    Args:
        path: the file.
        config: what the run does now.
        world: how many ranks take part.

    Raises:
        TorchspeedError: missing or damaged file, another run's, or another number of ranks.
    """
    damaged = TorchspeedError(
        f"{path} is damaged or not a checkpoint of this version; delete it and begin anew"
    )
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise TorchspeedError(f"no checkpoint {path}; leave out --resume to begin one") from None
    except OSError as error:
        raise TorchspeedError(f"{path} cannot be read ({error.strerror})") from None
    digest, _, body = content.removeprefix(_FORMAT).partition(b"\n")
    if not content.startswith(_FORMAT) or hashlib.sha256(body).hexdigest().encode() != digest:
        raise damaged
    try:
        saved = torch.load(io.BytesIO(body), weights_only=True, map_location="cpu")
        other = RunConfig.from_dict(saved["config"])
        state: State = saved["state"]
        ranks = len(state["ranks"])
    except (RuntimeError, pickle.UnpicklingError, EOFError, KeyError, TypeError):
        raise damaged from None
    if ranks != world:
        raise TorchspeedError(
            f"{path} is of a run with {ranks} ranks, now {world}; give --devices {ranks}"
        )
    if config.schedule != "constant" and config.schedule_span != other.schedule_span:
        raise TorchspeedError(
            f"the {config.schedule} schedule of {path} spans {other.schedule_span} epochs, now "
            f"{config.schedule_span}; give --schedule-epochs {other.schedule_span}"
        )
    differing = [name for name in config.differences(other) if name not in FREE_FIELDS]
    if differing:
        name = differing[0]
        raise TorchspeedError(
            f"{path} is of a run with another {name} ({getattr(other, name)!r}, now "
            f"{getattr(config, name)!r}); give the same, or another --checkpoint"
        )
    return state
