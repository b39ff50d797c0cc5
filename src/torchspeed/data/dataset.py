"""The interface of data sets: items to train on, to validate with and to test on."""

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
    """The normalisation of each column: subtract its mean, divide by its deviation.

    With a season, each time of the season, such as each month, has its own mean, and subtracting
    it leaves anomalies, as in climatology. Rows are counted from the first of the series.
    """

    mean: Tensor
    """(columns,), in the unit of each column."""
    deviation: Tensor
    """(columns,), without Bessel's correction, plus 1e-5; of anomalies if there is a season."""
    season: Tensor | None = None
    """(rows per season, columns): the mean of each time of the season, minus ``mean``."""

    @classmethod
    def of(cls, values: Tensor, season: int | None = None) -> Scale:
        """Return the scale of the columns of (rows, columns), the oldest rows of a series.

        The means of a season of so many rows are subtracted, if there is one.
        """
        deviation, mean = torch.std_mean(values, dim=0, correction=0)
        if season is None:
            return cls(mean, deviation + EPSILON)
        means = torch.stack([values[phase::season].mean(0) for phase in range(season)])
        anomalies = values - means[torch.arange(len(values)) % season]
        return cls(mean, anomalies.std(0, correction=0) + EPSILON, means - mean)

    def normalise(self, values: Tensor) -> Tensor:
        """Normalise (rows, columns), the values of a series from its first row on."""
        return (values - self._centre(torch.arange(len(values)))) / self.deviation

    def restore(self, values: Tensor, columns: slice, rows: Tensor) -> Tensor:
        """Undo `normalise` for values (..., chosen columns) of the rows with indices (...)."""
        return values * self.deviation[columns] + self._centre(rows)[..., columns]

    def _centre(self, rows: Tensor) -> Tensor:
        if self.season is None:
            return self.mean
        return self.mean + self.season[rows % len(self.season)]


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
    target: int | None = None
    """Column that a series' targets come from; None for all columns, and for images."""
    validation: Dataset[Any] | None = None
    """Items that choose the best epoch; None where there are none apart from ``test``."""
    scale: Scale | None = None
    """How a series was normalised; None for images and random numbers."""
    season: int | None = None
    """Rows per season, such as 12 for months; None where the data's frequency is not known."""

    @property
    def target_columns(self) -> slice:
        """Columns of a series that are forecast."""
        return slice(None) if self.target is None else slice(self.target, self.target + 1)
