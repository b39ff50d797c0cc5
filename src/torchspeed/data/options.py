"""Options of data sets, with the defaults that every tool shares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from torchspeed.options import option

DATA_PANEL = "Data"
"""Heading of ``--help``."""


@dataclass(frozen=True, slots=True)
class DataOptions:
    """How a named data set is to be read.

    Each set reads the fields that concern it: a CNN's data its ``shape``, a
    series its ``window``, ``horizon`` and ``target``.
    """

    # Where files lie decides nothing: the same data from elsewhere are equal.
    data_dir: Path = option(Path("data"), "Folder of the data.", compare=False, panel=DATA_PANEL)
    download: bool = option(False, "Download what is missing.", compare=False, panel=DATA_PANEL)
    items: int | None = option(
        None,
        "Training items of dummy data; by default enough for 50 steps.",
        min=5,
        panel=DATA_PANEL,
    )
    features: int | None = option(None, "Features of a dummy series.", min=1, panel=DATA_PANEL)
    window: int = option(10, "Time steps that a model sees.", min=1, panel=DATA_PANEL)
    horizon: int = option(
        3, "Steps from the window's last step to the value to forecast.", min=1, panel=DATA_PANEL
    )
    target: str = option(
        "first",
        "Column to forecast: name, first or all; 0, 1, … without a header.",
        panel=DATA_PANEL,
    )
    shape: tuple[int, ...] | None = None
    """Shape of one input that the model needs; None for the data's own."""
    classes: int = 10
    """Classes of a ``dummy`` set."""
    seed: int = 0
    """Seed of a ``dummy`` set."""
