"""Mann and Whitney's rank test.

U counts the pairs (x, y) in which y is the larger, a tie counting half. If both
samples come from one distribution U is symmetric about mn/2. Its exact distribution
is used for small samples without ties: the number of arrangements with U = u is the
coefficient of q^u in the Gaussian binomial coefficient of m + n over m. For others it
is taken as normal, with the variance corrected for ties and U for continuity.

Mann and Whitney (1947), doi:10.1214/aoms/1177730491.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, groupby

import numpy as np

from torchspeed.watch.analysis.statistics import checked

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
