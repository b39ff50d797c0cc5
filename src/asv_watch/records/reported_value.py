"""The value of runs before 2026-11-26, and of `asv run`: the minimum of their samples.

Interference on a machine adds to a time and never shortens it, so the minimum is closest to the
cost of the code (docs/notes/noise.md). Newer runs report the median of their rounds, which does
not fall with the number of samples. Chen and Revels (2016), "Robust benchmarking in noisy
environments", arXiv:1608.04295, give the argument, and BenchmarkTools.jl, with which FluxBench
measured, does the same.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

FEWEST_SAMPLES = 8
"""Fewest samples that show a spread: two or three lie close together too often."""
NUMBERS = frozenset({float, int})
"""Types of stored numbers; `bool`, which is an `int`, is none."""
LARGEST = sys.float_info.max


def is_finite_number(value: Any) -> TypeGuard[float]:
    """Tell whether a stored value can be shown: ``True`` and ``10**400`` cannot."""
    return type(value) in NUMBERS and -LARGEST <= value <= LARGEST


@dataclass(frozen=True, slots=True)
class ReportedValue:
    """The value of a run and the spread of its samples, in their unit."""

    value: float
    """The least sample."""
    interval: tuple[float, float] | None
    """The fastest quarter: from the least to the lower quartile; ``None`` below 8 samples."""
    quartiles: tuple[float, float]


def report_value(samples: Sequence[float]) -> ReportedValue:
    """Return the least sample, with the spread of all.

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
