"""What may be asked of a data set, with the defaults that every tool shares."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DataOptions:
    """How a named data set is to be read.

    Each set reads the fields that concern it: a CNN's data its ``shape``, a
    series its ``window``, ``horizon`` and ``target``.
    """

    folder: Path = field(default=Path("data"), compare=False)
    """Where files lie, and where downloads go; the same data from elsewhere are equal."""
    download: bool = field(default=False, compare=False)
    """Whether missing files may be fetched."""
    shape: tuple[int, ...] | None = None
    """Shape of one input that the model needs; None for the data's own."""
    classes: int = 10
    """Classes of a ``dummy`` set."""
    items: int = 1000
    """Training items of a ``dummy`` set; it has a fifth as many to test on."""
    features: int | None = None
    """Features of a ``dummy`` series; None for the model's own."""
    window: int = 10
    """Time steps that a model sees."""
    horizon: int = 3
    """Steps from the last step of the window to the value to forecast; the papers' least is 3."""
    target: str = "first"
    """Column to forecast: its name, its index in the file from 0, ``first`` or ``all``; the
    first is the first column of numbers."""
    augment: bool = False
    """Whether images to train on are cropped and mirrored at random."""
    seed: int = 0
    """Seed of a ``dummy`` set, and of what is changed at random."""
