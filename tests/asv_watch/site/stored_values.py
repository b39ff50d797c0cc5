"""Reads the values of data files."""

from __future__ import annotations

from typing import Any


def values_of(entry: dict[str, Any]) -> list[float | None]:
    """The values of a series in a data file, read as a program would."""
    decimals, middle = entry.get("scale", (0, 0))
    return [None if v is None else (middle + v) / 10**decimals for v in entry["v"]]
