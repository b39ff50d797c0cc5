"""Noise: how much a value differs from one run to the next when nothing has changed.

The samples of one run lie closer together than the values of several runs: the next run is
another process on another day, with another layout of memory and another load of the machine.
So noise is estimated between runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist, fmean, median, variance

import msgspec
import numpy as np
import numpy.typing as npt

FEWEST_VALUES = 8
"""A series' noise is estimated from at least this many values."""
FEWEST_SERIES = 5
"""Smallest number of series of a metric from which the noise of another one is estimated."""
FEWEST_DIFFERENCES = 20
"""Smallest total number of differences of neighbouring values in the series of a metric."""
ENOUGH_SERIES = 20
"""Number of series of a metric that show how much noise differs between cases."""
VARIANCE_OF_ESTIMATE = 1.2
"""Variance of the logarithm of a noise that was estimated from n differences, times n."""
FEW_DIFFERENCES = 3.6
"""Noise from n differences is inflated by 1 + this / n: few may be small by chance, and the newest
value then looks far off (docs/notes/change-points.md says how often)."""
_QUANTILES = (0.5, 0.75)


def variance_of_differences(
    sizes: npt.NDArray[np.float64], quantiles: Sequence[float] = _QUANTILES
) -> float:
    """Return a variance of differences that a few steps and spikes do not move.

    The largest of the estimates from quantiles; the median alone would overlook a second mode.
    """
    ordered = np.sort(sizes)
    return max((_quantile(ordered, share) / _normal_size(share)) ** 2 for share in quantiles)


def median_of(values: npt.NDArray[np.float64]) -> float:
    """Return the median, several times as fast as `numpy.median`."""
    return _quantile(np.sort(values), 0.5)


def _quantile(ordered: npt.NDArray[np.float64], share: float) -> float:
    """Return a quantile, between neighbours by their distance, in a tenth of numpy's time."""
    position = share * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return float(ordered[low] + (position - low) * (ordered[high] - ordered[low]))


@lru_cache
def _normal_size(share: float) -> float:
    """Return the size, in standard deviations, that a share of normal values stays below."""
    return NormalDist().inv_cdf((1 + share) / 2)


class OwnNoise(msgspec.Struct, frozen=True):
    """Noise of a series, estimated from its own values."""

    sizes: npt.NDArray[np.float64]
    """Sizes of the differences of neighbouring logarithms; none if values have no logarithm."""
    estimate: float | None
    """Standard deviation of the logarithm of a value; ``None`` below seven differences."""

    @property
    def count(self) -> int:
        """Number of differences."""
        return len(self.sizes)

    @property
    def cautious(self) -> float | None:
        """The estimate (0.01 is 1 %), inflated if it rests on few differences."""
        return None if self.estimate is None else self.estimate * caution(self.count)


def own_noise(segments: Iterable[Sequence[float] | npt.NDArray[np.float64]]) -> OwnNoise:
    """Estimate the noise of a series from one run to the next, steps and spikes left aside.

    Args:
        segments: Finite values in commit order; neighbours in one segment are compared.
    """
    parts = [np.asarray(values, dtype=np.float64) for values in segments]
    if not all((part > 0).all() for part in parts):
        return OwnNoise(np.empty(0), None)
    differences = [np.abs(np.diff(np.log(part))) for part in parts]
    sizes = np.concatenate([np.empty(0), *differences])
    if len(sizes) < FEWEST_VALUES - 1:
        return OwnNoise(sizes, None)
    return OwnNoise(sizes, math.sqrt(variance_of_differences(sizes) / 2))


def middle_and_spread(series: Sequence[OwnNoise]) -> tuple[float, float] | None:
    """Work out the median noise of series of a metric, and how much it differs beyond chance.

    Returns:
        The median, and the variance of the logarithm; ``None`` for too few series.
    """
    known = [(own.estimate, own.count) for own in series if own.estimate]
    if len(known) < ENOUGH_SERIES:
        return None
    by_chance = fmean(VARIANCE_OF_ESTIMATE / count for _, count in known)
    spread = variance([math.log(noise) for noise, _ in known])
    return median(noise for noise, _ in known), max(0.0, spread - by_chance)


def informed_noise(own: OwnNoise, others: tuple[float, float] | None) -> float | None:
    """Combine a series' own noise with that of the other series of its metric.

    An estimate from n differences is uncertain by a factor of exp(sqrt(1.2 / n)). Where the
    noise of the cases differs little beyond that, the median says more about a series than
    its own few values: the logarithms are weighted by their variances, as in empirical Bayes. It
    is never less than the series' own estimate, so that a noisier case than most stays one.

    Args:
        own: What its own values show.
        others: Noise of all series of the metric, its own included (`middle_and_spread`).
    """
    if not own.estimate or others is None:
        return own.cautious
    middle, between = others
    share = between / (between + VARIANCE_OF_ESTIMATE / own.count)
    together = math.exp(share * math.log(own.estimate) + (1 - share) * math.log(middle))
    return max(own.estimate, together * (1 + share * (caution(own.count) - 1)))


def caution(differences: int) -> float:
    """Return the factor for noise that was estimated from a number of differences."""
    return 1 + FEW_DIFFERENCES / differences


def pooled_noise(members: Sequence[OwnNoise]) -> float | None:
    """Return the noise of a metric from all of its series together; ``None`` if too few."""
    together = np.concatenate([own.sizes for own in members])
    if len(members) < FEWEST_SERIES or len(together) < FEWEST_DIFFERENCES:
        return None
    return math.sqrt(variance_of_differences(together, (*_QUANTILES, 0.9)) / 2)
