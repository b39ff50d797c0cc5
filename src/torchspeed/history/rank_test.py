"""Mann and Whitney's rank test, and the interval of a ratio that belongs to it.

U counts the pairs (x, y) in which y is the larger, a tie counting half. If both
samples come from one distribution U is symmetric about mn/2. Its exact distribution
is used for small samples without ties: the number of arrangements with U = u is the
coefficient of q^u in the Gaussian binomial coefficient of m + n over m. For others it
is taken as normal, with the variance corrected for ties and U for continuity.

Mann and Whitney (1947), doi:10.1214/aoms/1177730491. The interval: Hodges and Lehmann
(1963), doi:10.1214/aoms/1177704172; Hollander, Wolfe and Chicken (2013), section 4.3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, groupby
from statistics import NormalDist

import numpy as np

from torchspeed.history.statistics import checked

_MOST_EXACT = 60  # values in both samples together, up to which the exact distribution is used


def mann_whitney(x: Sequence[float], y: Sequence[float]) -> float:
    """Probability, were x and y alike, that U lies as far from its middle as it does.

    Args:
        x: One sample, in any order.
        y: The other.

    Returns:
        The two-sided p-value; 1 when every value is the same.

    Raises:
        ValueError: A sample is empty or holds a value that is not finite.
    """
    x, y = checked(x), checked(y)
    m, n = len(x), len(y)
    both = sorted([*x, *y])
    ties = [len(list(group)) for _, group in groupby(both)]
    u = float(np.searchsorted(x, y, "left").sum() + np.searchsorted(x, y, "right").sum()) / 2
    if len(ties) == m + n <= _MOST_EXACT:
        tail = _cumulative(m, n)[int(min(u, m * n - u))]
        return min(1.0, 2 * tail)
    total = m + n
    tie_term = sum(t**3 - t for t in ties) / (total * (total - 1))
    variance = m * n / 12 * (total + 1 - tie_term)
    if variance <= 0:
        return 1.0
    distance = max(0.0, abs(u - m * n / 2) - 0.5)
    return math.erfc(distance / math.sqrt(2 * variance))


def ratio_interval(
    x: Sequence[float], y: Sequence[float], confidence: float = 0.99
) -> tuple[float, float, float] | None:
    """Estimate the ratio of y to x from all pairs of a value of each.

    The estimate is the median of all ratios y/x; the ends are those of its ordered
    ratios that the rank test would just not reject.

    Returns:
        (ratio, lower end, upper end), or ``None`` where the samples are too small for
        the confidence: the extreme ratios then do not reach it.

    Raises:
        ValueError: A sample is empty, or holds a value that is not finite and positive.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}: it must lie between 0 and 1")
    x, y = checked(x), checked(y)
    if min(x[0], y[0]) <= 0:
        raise ValueError("a ratio needs positive values")
    ratios = np.sort(np.divide.outer(y, x), axis=None)
    rank = _rank_of_end(len(x), len(y), 1 - confidence)
    if rank is None:
        return None
    return float(np.median(ratios)), float(ratios[rank]), float(ratios[-1 - rank])


def _rank_of_end(m: int, n: int, alpha: float) -> int | None:
    """Index of the lower end among the mn ordered ratios: largest k with P(U <= k) <= alpha/2."""
    if m + n <= _MOST_EXACT:
        reached = [k for k, share in enumerate(_cumulative(m, n)) if share <= alpha / 2]
        return reached[-1] if reached else None
    spread = math.sqrt(m * n * (m + n + 1) / 12)
    rank = math.floor(m * n / 2 - NormalDist().inv_cdf(1 - alpha / 2) * spread - 0.5)
    return rank if rank >= 0 else None


@lru_cache(maxsize=64)
def _cumulative(m: int, n: int) -> tuple[float, ...]:
    """P(U <= u) for u = 0 ... mn."""
    counts = [1] + [0] * (m * n)
    for i in range(1, m + 1):
        # Times (1 - q^(n+i)), then divided by (1 - q^i).
        for u in range(m * n, n + i - 1, -1):
            counts[u] -= counts[u - n - i]
        for u in range(i, m * n + 1):
            counts[u] += counts[u - i]
    total = math.comb(m + n, m)
    return tuple(count / total for count in accumulate(counts))
