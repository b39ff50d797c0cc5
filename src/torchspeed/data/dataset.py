"""The interface of data sets: items to train on, to validate with and to test on.

A series also has the normalisation of its columns, and the inverse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset

EPSILON = 1e-5
"""Added to each deviation, as Flux's ``normalise`` does: a constant column stays finite."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The normalisation of each column: subtract its mean, divide by its deviation."""

    mean: Tensor
    """(columns,), in the unit of each column."""
    deviation: Tensor
    """(columns,), uncorrected, plus 1e-5."""

    @classmethod
    def of(cls, values: Tensor) -> Scale:
        """Return the scale of the columns of (rows, columns)."""
        deviation, mean = torch.std_mean(values, dim=0, correction=0)
        return cls(mean, deviation + EPSILON)

    def normalise(self, values: Tensor) -> Tensor:
        """Return the values (..., columns) without unit."""
        return (values - self.mean) / self.deviation

    def restore(self, values: Tensor, columns: slice) -> Tensor:
        """Return normalised values (..., chosen columns) in the units of the data."""
        return values * self.deviation[columns] + self.mean[columns]


@dataclass(frozen=True, slots=True)
class Data:
    """A named data set, split for training and testing.

    Items are pairs ``(input, target)``: a float32 tensor of ``item_shape``, and
    either a class (``classes`` of them) or, when ``classes`` is None, a float32
    tensor to forecast.
    """

    name: str
    train: Dataset[Any]
    test: Dataset[Any]
    item_shape: tuple[int, ...]
    """Shape of one input: (channels, height, width) or (window, features)."""
    classes: int | None
    """How many classes; None for a forecast."""
    source: str
    """Where the data come from."""
    target: int | None = None
    """Column that a series' targets come from; None for all columns, and for images."""
    validation: Dataset[Any] | None = None
    """Items that choose the best epoch; None where there are none apart from ``test``."""
    scale: Scale | None = None
    """How a series was normalised; None for images and random numbers."""
    season: int | None = None
    """Rows of a season, such as 12 for months; None where the data's frequency is not known."""

    @property
    def target_columns(self) -> slice:
        """Columns of a series that are forecast."""
        return slice(None) if self.target is None else slice(self.target, self.target + 1)
