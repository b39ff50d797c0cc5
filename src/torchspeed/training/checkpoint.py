"""A training run's state after an epoch, from which it can be resumed exactly: a `torch.save`."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import torch

from torchspeed.errors import TorchspeedError
from torchspeed.files import write_whole
from torchspeed.training.config import RunConfig
from torchspeed.training.trainee import State

FREE_FIELDS = {"epochs", "schedule_epochs", "target_accuracy", "warmup"}
"""Fields that may differ when a run is resumed. The span of the schedule is checked apart."""


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


def save_checkpoint(path: Path, config: RunConfig, state: State, ranks: list[State]) -> None:
    """Write the state completely, then replace the older checkpoint.

    Args:
        path: the file.
        config: what the run does.
        state: `Trainee.state` of the leading rank.
        ranks: `Trainee.state_of_rank` of every rank, in their order.

    Raises:
        OSError: it cannot be written.
    """
    content = io.BytesIO()
    torch.save({"config": config.as_dict(), "state": state | {"ranks": ranks}}, content)
    write_whole(path, content.getvalue())


def load_checkpoint(path: Path, config: RunConfig, world: int) -> State:
    """Read the state of a run with this configuration.

    Args:
        path: the file.
        config: what the run does now.
        world: how many ranks take part.

    Raises:
        TorchspeedError: missing or damaged file, another run's, or another number of ranks.
    """
    saved = _read(path)
    try:
        other = RunConfig.from_dict(saved["config"])
        state: State = saved["state"]
        ranks = len(state["ranks"])
    except (KeyError, TypeError):
        raise _damaged(path) from None
    if ranks != world:
        raise TorchspeedError(
            f"{path} is of a run with --devices {ranks}, now {world}; give --devices {ranks}"
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


def load_parameters(path: Path) -> dict[str, Any]:
    """Read the parameters of a checkpoint's best epoch, or a file of parameters alone.

    Args:
        path: what ``--checkpoint`` or ``--save-best`` wrote, or any ``torch.save`` of a model's
            ``state_dict()``.

    Raises:
        TorchspeedError: missing or damaged file, or another kind of file.
    """
    saved = _read(path)
    if "state" in saved and "config" in saved:
        try:
            best: dict[str, Any] = saved["state"]["best"] or saved["state"]["parts"][0]
        except (LookupError, TypeError):
            raise _damaged(path) from None
        return best
    return saved


def _read(path: Path) -> dict[str, Any]:
    """Contents of a file that torch wrote: a zip, whose checksums torch itself does not check."""
    if not path.exists():
        raise TorchspeedError(
            f"no checkpoint {path}; leave out --resume or --weights, or give a file that exists"
        )
    saved = None
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.testzip() is None:
                saved = torch.load(path, weights_only=True, map_location="cpu")
    except PermissionError:
        raise
    except Exception:  # zipfile and torch raise anything for a damaged file
        raise _damaged(path) from None
    if not isinstance(saved, dict):
        raise _damaged(path)
    return saved


def _damaged(path: Path) -> TorchspeedError:
    return TorchspeedError(
        f"{path} is damaged or not a checkpoint of this version; delete it and begin anew"
    )
