"""Descriptions of a handful of figures: location, spread, and how sure they are.

All of them refuse NaN and infinity: a figure that was not measured is left out by
the caller, who knows why it is missing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

NORMAL_CONSISTENCY = 1.482602218505602
"""Standard deviation over median absolute deviation, for normal values: 1 / Phi^-1(3/4)."""


def checked(values: Sequence[float]) -> list[float]:
    """Return the values sorted.

    Raises:
        ValueError: There are none, or one is not finite.
    """
    if not len(values):
        raise ValueError("values are empty: give at least one")
    if not all(map(math.isfinite, values)):
        raise ValueError("values must be finite: leave out what was not measured")
    return sorted(map(float, values))


def quantile(values: Sequence[float], share: float) -> float:
    """Value below which a share of the values lies, linear between neighbours.

    This is type 7 of Hyndman and Fan (1996), the one that asv and numpy use.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share}: it must lie between 0 and 1")
    ordered = checked(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    if below == place:
        return ordered[below]
    part = place - below
    return ordered[below] * (1 - part) + ordered[below + 1] * part


def median(values: Sequence[float]) -> float:
    """Middle value, or the mean of the two middle ones."""
    return quantile(values, 0.5)


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """First and third quartile."""
    return quantile(values, 0.25), quantile(values, 0.75)


def median_absolute_deviation(values: Sequence[float]) -> float:
    """Median distance from the median; times ``NORMAL_CONSISTENCY`` it estimates a spread."""
    centre = median(values)
    return median([abs(value - centre) for value in values])


@dataclass(frozen=True, slots=True)
class GeometricMean:
    """A mean of ratios, and of how many."""

    value: float
    count: int


def geometric_mean(values: Sequence[float]) -> GeometricMean:
    """Geometric mean: the only mean under which a ratio and its inverse cancel.

    Raises:
        ValueError: There are no values, or one is not finite and positive.
    """
    ordered = checked(values)
    if ordered[0] <= 0:
        raise ValueError(f"a geometric mean needs positive values, got {ordered[0]}")
    return GeometricMean(math.exp(math.fsum(map(math.log, ordered)) / len(ordered)), len(ordered))
