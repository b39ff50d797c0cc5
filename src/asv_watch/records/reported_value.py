"""The reported value of a run: the minimum of its samples.

Interference on a machine adds to a time and never shortens it, so the minimum is closest to
what the code costs, and is what repeats in the next run (docs/notes/noise.md). Chen and Revels
(2016), "Robust benchmarking in noisy environments", arXiv:1608.04295, give the argument, and
BenchmarkTools.jl, with which FluxBench measured, does the same.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

FEWEST_SAMPLES = 8
"""Samples that a spread is known from: of fewer, two or three lie close together too often."""
_LARGEST = sys.float_info.max


def is_finite_number(value: Any) -> TypeGuard[float]:
    """Tell whether a stored value can be shown: ``True`` and ``10**400`` cannot."""
    return type(value) in (int, float) and -_LARGEST <= value <= _LARGEST


@dataclass(frozen=True, slots=True)
class ReportedValue:
    """The value of a run and the spread of its samples, in their unit."""

    value: float
    """The least sample."""
    interval: tuple[float, float] | None
    """The fastest quarter: from the least to the lower quartile; ``None`` below 8 samples."""
    quartiles: tuple[float, float]


def report_value(samples: Sequence[float]) -> ReportedValue:
    """Give the value that a run reports, with the spread of its samples.

    Raises:
        ValueError: There are none, or one is not finite.
    """
    if not samples or not all(map(math.isfinite, samples)):
        raise ValueError("samples must be finite numbers, one at least")
    least = min(samples)
    low, high = least, least
    if len(samples) > 1:
        low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
    interval = (least, low) if len(samples) >= FEWEST_SAMPLES else None
    return ReportedValue(least, interval, (low, high))
