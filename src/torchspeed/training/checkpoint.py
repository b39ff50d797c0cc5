"""Files of `torch.save`: the state of a training after each epoch, or parameters alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig

FREE = {"epochs", "patience", "target_accuracy", "threads", "device"}
"""Options that may differ when a run is resumed."""


def load_checkpoint(path: Path, config: RunConfig) -> dict[str, Any]:
    """Read the state of a run with this configuration.

    Raises:
        TorchspeedError: missing or damaged file, or another run's.
    """
    saved = _read(path)
    free = FREE - {"epochs"} if config.cosine else FREE
    if difference := config.difference(saved.get("config", {}), free):
        raise TorchspeedError(
            f"{path} comes from a run with {difference}; give the same, or another --checkpoint"
        )
    return saved


def take_parameters(model: nn.Module, path: Path) -> None:
    """Give a model the parameters of a checkpoint's best epoch, or of a file of parameters alone.

    ``--checkpoint`` wrote it, or any ``torch.save`` of a ``state_dict()``.

    Raises:
        TorchspeedError: missing or damaged file, or parameters of another model.
    """
    saved = _read(path)
    try:
        model.load_state_dict(saved.get("best") or saved.get("model") or saved)
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].strip()
        raise TorchspeedError(
            f"{path} does not fit the model ({reason}); give the --model and --model-kwargs "
            "that it was trained with"
        ) from None


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise TorchspeedError(
            f"no checkpoint {path}; leave out --resume or --weights, or give a file that exists"
        )
    try:
        saved: Any = torch.load(path, weights_only=True, map_location="cpu")
    except PermissionError:
        raise
    except Exception:  # torch raises anything for a damaged file
        saved = None
    if not isinstance(saved, dict):
        raise TorchspeedError(
            f"{path} is damaged or not a checkpoint of this version; delete it and begin anew"
        )
    return saved
