"""Saves a training run's state after each epoch by `torch.save`, and resumes the run exactly."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from torchspeed.errors import TorchspeedError
from torchspeed.files import write_whole
from torchspeed.training.config import RunConfig

FREE_FIELDS = {"epochs", "schedule_epochs", "target_accuracy", "threads", "warmup"}
"""Fields that may differ when a run is resumed. The schedule's span is checked separately."""


def check_new(path: Path) -> None:
    """Refuse to begin a run whose checkpoint would replace a file that exists.

    Raises:
        TorchspeedError: the file exists.
    """
    if path.exists():
        raise TorchspeedError(
            f"{path} exists already; give --resume to continue that run, another --checkpoint, or "
            "delete the file"
        )


def save_checkpoint(
    path: Path, config: RunConfig, state: dict[str, Any], ranks: list[dict[str, Any]]
) -> None:
    """Replace the file with `TrainingState.shared_state` and the `rank_state` of every rank."""
    save(path, {"config": _without_gpu_index(config).as_dict(), "state": state | {"ranks": ranks}})


def _without_gpu_index(config: RunConfig) -> RunConfig:
    """Return the configuration that all ranks share: its device without the GPU's index."""
    return replace(config, device=config.device.partition(":")[0])


def save(path: Path, values: dict[str, Any]) -> None:
    """Replace a file with values written by `torch.save`; if that fails, the old file stays."""
    content = io.BytesIO()
    torch.save(values, content)
    write_whole(path, content.getvalue())


def load_checkpoint(path: Path, config: RunConfig, world: int) -> dict[str, Any]:
    """Read the state of a run with this configuration and this number of ranks.

    Raises:
        TorchspeedError: missing or damaged file, another run's, or another number of ranks.
    """
    saved = _read(path)
    try:
        stored, state = saved["config"], saved["state"]
        ranks = len(state["ranks"])
        span = stored["schedule_epochs"] or stored["epochs"]
        difference = _without_gpu_index(config).difference(stored, FREE_FIELDS)
    except (KeyError, TypeError):
        raise _damaged(path) from None
    if ranks != world:
        raise TorchspeedError(
            f"{path} comes from a run with --devices {ranks}, this one has {world}; "
            f"give --devices {ranks}"
        )
    if config.schedule != "constant" and config.schedule_span != span:
        raise TorchspeedError(
            f"the {config.schedule} schedule of {path} spans {span} epochs, now "
            f"{config.schedule_span}; give --schedule-epochs {span}"
        )
    if difference:
        raise TorchspeedError(
            f"{path} comes from a run with {difference}; give the same, or another --checkpoint"
        )
    return dict(state)


def load_parameters(path: Path) -> dict[str, Any]:
    """Read the parameters of a checkpoint's best epoch, or a file of parameters alone.

    ``--checkpoint`` or ``--save-best`` wrote it, or any ``torch.save`` of a ``state_dict()``.

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
    """Read a file that torch wrote, and check the checksums of its zip, which torch does not."""
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
