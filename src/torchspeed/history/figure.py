"""What stands for the samples of a run: their lower quartile.

Whatever else happens on a machine adds to a time and never takes from it, so the quiet
samples are the ones that repeat (docs/measuring.md, "The figure"). The least of all would
hang on a single sample; a quarter of them has an interval of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torchspeed.history.statistics import quantile, quantile_interval

SHARE = 0.25
"""Of the samples, those that are as fast as the figure or faster."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A run's samples in short, in their unit."""

    value: float
    """Their lower quartile."""
    interval: tuple[float, float] | None
    """99 % confidence interval of it; ``None`` below 19 samples."""
    quartiles: tuple[float, float]


def figure_of(samples: Sequence[float]) -> Figure:
    """Describe the samples of a run.

    Raises:
        ValueError: There are none, or one is not finite.
    """
    ordered = sorted(samples)
    value = quantile(ordered, SHARE)
    return Figure(value, quantile_interval(ordered, SHARE), (value, quantile(ordered, 1 - SHARE)))
