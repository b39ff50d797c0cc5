"""The order in which a line of commits is filled in, so that the largest gap shrinks first."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Collection, Iterator


def bisection_order(length: int, known: Collection[int]) -> Iterator[int]:
    """Yield the positions that are not known: each time the middle of the largest gap.

    Between gaps of one size the newest comes first. The line ends at the newest commit, which
    is measured for its own sake; at the other end the gap reaches to the oldest.

    Args:
        length: number of positions, 0 being the oldest.
        known: positions that need no measuring.
    """
    bounds = [-1, *sorted(known), length]
    gaps = [(-(after - before), -after) for before, after in itertools.pairwise(bounds)]
    heapq.heapify(gaps)
    while gaps:
        size, after = heapq.heappop(gaps)
        before, after = -after + size, -after
        if after - before < 2:
            continue
        middle = (before + after) // 2
        yield middle
        heapq.heappush(gaps, (-(middle - before), -middle))
        heapq.heappush(gaps, (-(after - middle), -after))
