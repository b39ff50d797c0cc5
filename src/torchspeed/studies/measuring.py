"""Measures the points of a reproduction in rounds, and stores every measurement in a file.

A point is measured once a round, so that slow changes of the machine affect all points alike.
The file has a line per measurement, written at once, so an interrupted run can go on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from torchspeed.errors import TorchspeedError

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

    @property
    def key(self) -> list[Any]:
        """Identifies the point in a file."""
        return [self.name, self.x]


class Measurements:
    """The measurements of the points of a reproduction in some rounds, kept in a file.

    A file that holds all of them already is begun anew.

    Raises:
        TorchspeedError: the file has another reproduction or other options, or is damaged.
    """

    def __init__(
        self, file: Path, origin: dict[str, Any], points: list[Point], rounds: int
    ) -> None:
        self._file, self._origin = file, origin
        self._points, self._rounds = points, rounds
        self._values: list[tuple[list[Any], Values]] = []
        if file.exists():
            self._read()
            if not list(self.missing()):  # the file is complete, so everything is measured again
                file.unlink()
                self._values = []

    @property
    def wanted(self) -> int:
        """Number of measurements of a complete run."""
        return len(self._points) * self._rounds

    def _read(self) -> None:
        try:
            lines = self._file.read_text(encoding="utf-8").splitlines(keepends=True)
            if lines and not lines[-1].endswith("\n"):  # cut short by a kill or a full disk
                os.truncate(self._file, sum(len(line.encode()) for line in lines[:-1]))
                lines.pop()
            for line in map(json.loads, lines):
                if line["origin"] != self._origin:
                    raise TorchspeedError(
                        f"{self._file} has measurements with other options; give another --figure "
                        "or delete it"
                    )
                self._values.append((line["point"], line["values"]))
        except (ValueError, KeyError, TypeError):
            raise TorchspeedError(
                f"{self._file} is damaged or another kind of file; delete it, or give another "
                "--figure"
            ) from None

    def of(self, point: Point) -> list[Values]:
        """Return the measurements of a point, oldest first."""
        return [values for key, values in self._values if key == point.key]

    def add(self, point: Point, values: Values) -> None:
        """Store a measurement; it is in the file when this returns."""
        line = {"origin": self._origin, "point": point.key, "values": values}
        with self._file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        self._values.append((point.key, values))

    def missing(self) -> Iterator[tuple[int, Point]]:
        """Yield each point once for every measurement that it lacks, round by round, from 1."""
        measured = {id(point): len(self.of(point)) for point in self._points}
        for number in range(1, self._rounds + 1):
            for point in self._points:
                if measured[id(point)] < number:
                    yield number, point

    def rows(self) -> list[MeasuredRow]:
        """Return a summary of the measurements for each name and value of the axis."""
        by_row: dict[tuple[str, float | str], list[dict[str, float]]] = {}
        for point in self._points:
            for values in self.of(point):
                for name, quantities in values.items():
                    by_row.setdefault((name, point.x), []).append(quantities)
        return [(name, x, summarise(measured)) for (name, x), measured in by_row.items()]


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


def summarise(measured: list[dict[str, float]]) -> dict[str, Summary]:
    """Return each quantity's median and quartiles over measurements."""
    summaries = {}
    for name in dict.fromkeys(name for quantities in measured for name in quantities):
        numbers = [quantities[name] for quantities in measured if name in quantities]
        low, median, high = np.percentile(numbers, (25, 50, 75)).tolist()
        summaries[name] = Summary(median, low, high, len(numbers))
    return summaries


MeasuredRow = tuple[str, float | str, dict[str, Summary]]
"""A name, a value of the axis, and the summary of each quantity by its name."""
