"""The normalisation of a series, column by column, and its inverse."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

EPSILON = 1e-5
"""Added to each deviation, as Flux's ``normalise`` does: a constant column stays finite."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The normalisation of each column: less its mean, over its deviation."""

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
        """Normalised values (..., chosen columns) in the units that they were measured in."""
        return values * self.deviation[columns] + self.mean[columns]
