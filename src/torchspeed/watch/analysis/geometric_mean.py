"""The geometric mean of ratios, with their number."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GeometricMean:
    """A mean of ratios, and the number of them."""

    value: float
    count: int


def geometric_mean(ratios: Sequence[float]) -> GeometricMean:
    """Geometric mean: the only mean under which a ratio and its inverse cancel.

    Raises:
        ValueError: There are no ratios, or one is not positive.
    """
    return GeometricMean(statistics.geometric_mean(ratios), len(ratios))
