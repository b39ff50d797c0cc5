"""Reads the index of a site."""

from __future__ import annotations

from typing import Any


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
