"""Reads the values of data files."""

from __future__ import annotations

from typing import Any


def values_of(entry: dict[str, Any]) -> list[float | None]:
    """The values of a series in a data file, read as a program would."""
    decimals, middle = entry.get("scale", (0, 0))
    return [None if v is None else (middle + v) / 10**decimals for v in entry["v"]]


def case_of(index: dict[str, Any], series: dict[str, Any]) -> str:
    """The case of a series of the index, as asv writes it."""
    return str(index["cases"][series["c"]]["key"])


def labels_of(index: dict[str, Any], series: dict[str, Any]) -> dict[str, str]:
    """The parameters of a series, its pass included."""
    return dict(index["cases"][series["c"]]["labels"])


def metric_of(index: dict[str, Any], series: dict[str, Any]) -> dict[str, Any]:
    """What a series measures."""
    benchmark = index["benchmarks"][index["cases"][series["c"]]["b"]]
    return dict(index["metrics"][benchmark["metric"]])
