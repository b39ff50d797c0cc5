"""From the command line's options to a run's configuration."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig
from torchspeed.workloads import get_workload

DATA_FIELDS = ("download", "features", "window", "horizon", "target")
"""Options that concern the data alone and go by the same name there."""

FEWEST_DUMMY_ITEMS = 1000

OTHER_COMMAND_FIELDS = (
    "data_dir", "items", "devices", "strategy", "json", "quiet", "baseline",
)  # fmt: skip
"""Options that are no part of a run's configuration."""


def configure(options: dict[str, Any]) -> RunConfig:
    """The configuration that the options of a command ask for.

    Args:
        options: parameter names of the command and their values.

    Raises:
        TorchspeedError: unknown model.
    """
    values = {
        name: value
        for name, value in options.items()
        if name not in (*DATA_FIELDS, *OTHER_COMMAND_FIELDS)
    }
    if values.get("target_accuracy") is not None:
        values["target_accuracy"] /= 100
    if values["data"] is None:
        values["data"] = default_data(values["model"])
    data_options = DataOptions(
        folder=options["data_dir"],
        seed=values["seed"],
        items=options["items"] or _dummy_items(values["batch_size"], options["devices"]),
        **{name: options[name] for name in DATA_FIELDS},
    )
    return RunConfig(**values, data_options=data_options)


def default_data(model: str) -> str:
    """The embedded data that suit a model.

    Raises:
        TorchspeedError: unknown model; the nearest are offered.
    """
    try:
        classifies = get_workload(model).classifies
    except ValueError as error:
        raise TorchspeedError(str(error)) from None
    return "digits" if classifies else "google_stock"


def _dummy_items(batch_size: int, devices: int) -> int:
    """Training items of dummy data for 50 steps of all devices, and so 10 steps of testing."""
    ranks = int(os.environ.get("WORLD_SIZE", devices))
    return max(FEWEST_DUMMY_ITEMS, 50 * batch_size * ranks)


def check_writable(path: Path | None) -> None:
    """Find out before a long run, not after it, that its result cannot be written.

    Raises:
        TorchspeedError: the folder is missing or not writable, or the path is a folder.
    """
    if path is None:
        return
    if not path.parent.is_dir():
        raise TorchspeedError(f"no folder {path.parent} for {path.name}; make it first")
    if path.is_dir():
        raise TorchspeedError(f"{path} is a folder; give a file")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise TorchspeedError(
            f"{path} cannot be written ({error.strerror}); give a file in a writable folder"
        ) from None
