"""One run from options to table: joining ranks, progress, result, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from torchspeed.cli.configure import check_writable
from torchspeed.cli.facts import facts
from torchspeed.cli.progress import RunProgress
from torchspeed.cli.show import show_run
from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig
from torchspeed.training.results import RunResult
from torchspeed.training.run import NOBODY, Observer
from torchspeed.training.saving import save_whole


def run_and_report(
    config: RunConfig,
    run: Callable[[Observer], RunResult],
    *,
    json_file: Path | None,
    quiet: bool,
    leads: bool = True,
) -> None:
    """Run with progress, show the tables, write the JSON.

    Args:
        config: for the messages.
        run: does the work, given who looks on.
        json_file: where the result goes too.
        quiet: show no progress.
        leads: whether this is the rank that reports.

    Raises:
        TorchspeedError: what the run found, or not enough memory for it.
    """
    check_writable(json_file)
    progress = Console(stderr=True)
    try:
        if quiet or not leads:
            result = run(NOBODY)
        else:
            with RunProgress(progress) as bar:
                result = run(bar)
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        raise TorchspeedError(
            f"not enough memory for batches of {config.batch_size} on {config.device}; give a "
            "smaller --batch-size"
        ) from None
    if not leads:
        return
    show_run(result, Console())
    if json_file is not None:
        save_json(json_file, {**result.as_dict(), "machine": facts()})


def save_json(path: Path, values: dict[str, Any]) -> None:
    """Write strict JSON, whole or not at all."""
    text = json.dumps(values, indent=2, allow_nan=False, default=str)
    save_whole(path, f"{text}\n".encode())


def _is_out_of_memory(error: BaseException) -> bool:
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        "can't allocate memory" in str(error)
    )
