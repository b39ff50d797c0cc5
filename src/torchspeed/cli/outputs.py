"""Where a run's results go, and how many devices take part."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from torchspeed.errors import TorchspeedError
from torchspeed.options import option
from torchspeed.training.config import DEVICE

if TYPE_CHECKING:
    from rich.progress import Progress

_WIDTH_OF_FILES = 160


@dataclass(frozen=True, slots=True)
class Outputs:
    """Options of a command that runs on some devices and reports."""

    devices: str = option(
        "1", "Devices to train on together: a number, or auto for all GPUs.", panel=DEVICE
    )
    json: Path | None = option(None, "Write the result to this file too.", panel="Output")
    quiet: bool = option(False, "Show no progress.", "-q", panel="Output")


def standard_output() -> Console:
    """Return a console as wide as the terminal; a file or a pipe has room for every table."""
    width_is_known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if width_is_known else _WIDTH_OF_FILES)


def error_console() -> Console:
    """Return a console for progress, which shows texts as they are."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def progress_bar(console: Console, beside: str = "") -> Progress:
    """Return a bar with the time left, for terminals alone, which is drawn only when asked.

    Args:
        console: where to draw it.
        beside: text between the count and the time, with fields of the task in braces.
    """
    from rich import progress

    return progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn(beside),
        progress.TimeRemainingColumn(),
        progress.TextColumn("left"),
        console=console,
        auto_refresh=False,  # a thread would draw while something is timed
        transient=True,
        disable=not console.is_terminal,
    )


def check_writable(path: Path | None) -> None:
    """Check before a long run that its result can be written.

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
