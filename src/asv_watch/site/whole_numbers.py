"""Values as whole numbers near zero: the files of a long history are a fifth smaller with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from asv_watch.records.run_columns import Floats, Places

_MOST_DECIMALS = 22
"""Powers of ten up to this one are exact as floating-point numbers."""
_LARGEST = 2.0**52


@dataclass(frozen=True, slots=True)
class WholeNumbers:
    """Values without loss: each is ``(middle + number) / 10**decimals``."""

    decimals: int
    middle: int
    """The median of the values times ``10**decimals``."""
    numbers: Places


def whole_numbers(values: Floats) -> WholeNumbers | None:
    """Return values as whole numbers; ``None`` if that would lose digits.

    Args:
        values: One at least, with five significant digits or whole.
    """
    with np.errstate(divide="ignore"):
        wanted = 4 - np.floor(np.log10(np.abs(values)))
    decimals = int(max(0, wanted.max(where=np.isfinite(wanted), initial=0)))
    if decimals > _MOST_DECIMALS:
        return None
    scale = 10.0**decimals
    with np.errstate(over="ignore"):
        scaled = np.rint(values * scale)
    if np.abs(scaled).max() > _LARGEST or (scaled / scale != values).any():
        return None
    middle = np.sort(scaled)[len(scaled) // 2]
    return WholeNumbers(decimals, int(middle), (scaled - middle).astype(np.intp))
