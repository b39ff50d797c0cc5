"""The points of a reproduction, and their measurements in numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

Values = dict[str, dict[str, float]]
"""Quantities by the name of a line or row, each in its unit."""


@dataclass(frozen=True, slots=True)
class Point:
    """What is measured together, at one value of the axis."""

    name: str
    """Identifies the point among those of a reproduction, together with the value of the axis."""
    x: float | str
    """Value of the axis."""
    measure: Callable[[], Values]


@dataclass(frozen=True, slots=True)
class Summary:
    """Median and quartiles of a quantity over the rounds, in its unit."""

    median: float
    low: float
    """The lower quartile."""
    high: float
    """The upper quartile."""
    rounds: int

    @property
    def iqr(self) -> float:
        """The distance between the quartiles, in the unit of the quantity."""
        return self.high - self.low


MeasuredRow = tuple[str, float | str, dict[str, Summary]]
"""A name, a value of the axis, and the summary of each quantity by its name."""


def summarise(measured: Iterable[tuple[Point, Values]]) -> list[MeasuredRow]:
    """Return a summary of measurements for each name and value of the axis."""
    numbers: dict[tuple[str, float | str], dict[str, list[float]]] = {}
    for point, values in measured:
        for name, quantities in values.items():
            row = numbers.setdefault((name, point.x), {})
            for quantity, value in quantities.items():
                row.setdefault(quantity, []).append(value)
    return [
        (name, x, {quantity: _summary(values) for quantity, values in row.items()})
        for (name, x), row in numbers.items()
    ]


def _summary(values: list[float]) -> Summary:
    low, median, high = np.percentile(values, (25, 50, 75)).tolist()
    return Summary(median, low, high, len(values))
