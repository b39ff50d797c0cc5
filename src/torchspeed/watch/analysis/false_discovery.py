"""Many tests at once: which findings may be believed.

Benjamini and Hochberg (1995), doi:10.1111/j.2517-6161.1995.tb02031.x: when findings are
those whose adjusted p is at most alpha, at most a share alpha of the findings is false,
on average.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for their number.

    The i-th smallest of n becomes the least of p_j n / j over all j >= i.

    Returns:
        The adjusted p-values, in the order given.

    Raises:
        ValueError: A p-value is NaN or outside 0 ... 1.
    """
    for p in p_values:
        if math.isnan(p) or not 0 <= p <= 1:
            raise ValueError(f"{p} is no probability")
    count = len(p_values)
    adjusted = [1.0] * count
    least = 1.0
    largest_first = sorted(range(count), key=p_values.__getitem__, reverse=True)
    for passed, place in enumerate(largest_first):
        least = min(least, p_values[place] * count / (count - passed))
        adjusted[place] = least
    return adjusted
