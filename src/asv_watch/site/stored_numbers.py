"""Numbers as data files store them: with five digits, and as whole numbers near zero.

Further digits would only show noise, and the files of a long history are a fifth smaller with
whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asv_watch.records.series import Floats, Indices

_EXACT_POWERS = 22
"""Powers of ten up to this one are exact as floating-point numbers."""
_LARGEST = 2.0**52


def shortened(value: float, significant: int = 5) -> float:
    """Round a value to so many significant digits."""
    return float(f"{value:.{significant}g}")


def published_values(values: Floats, is_exact: npt.NDArray[np.bool_]) -> Floats:
    """Return values as data files store them.

    Args:
        values: Of one series.
        is_exact: For each value whether it has no interval; such a value is stored unrounded.
    """
    return np.where(is_exact, values, _all_shortened(values))


def _all_shortened(values: Floats) -> Floats:
    """Give values to five significant digits at once, a tenth of the time of one by one."""
    with np.errstate(divide="ignore"):
        decimals = 4 - np.floor(np.log10(np.abs(values)))
    is_usual = np.abs(decimals) <= _EXACT_POWERS
    scale = 10.0 ** np.abs(np.where(is_usual, decimals, 0))
    rounded = np.where(
        decimals > 0, np.rint(values * scale) / scale, np.rint(values / scale) * scale
    )
    rounded[~is_usual] = [shortened(value) for value in values[~is_usual].tolist()]
    return rounded


@dataclass(frozen=True, slots=True)
class WholeNumbers:
    """Values without loss: each is ``(middle + number) / 10**decimals``."""

    decimals: int
    middle: int
    """The median of the values times ``10**decimals``."""
    numbers: Indices


def whole_numbers(values: Floats) -> WholeNumbers | None:
    """Return values as whole numbers; ``None`` if that would lose digits.

    Args:
        values: One at least, with five significant digits or whole.
    """
    with np.errstate(divide="ignore"):
        wanted = 4 - np.floor(np.log10(np.abs(values)))
    decimals = int(max(0, wanted.max(where=np.isfinite(wanted), initial=0)))
    if decimals > _EXACT_POWERS:
        return None
    scale = 10.0**decimals
    with np.errstate(over="ignore"):
        scaled = np.rint(values * scale)
    if np.abs(scaled).max() > _LARGEST or (scaled / scale != values).any():
        return None
    middle = np.sort(scaled)[len(scaled) // 2]
    return WholeNumbers(decimals, int(middle), (scaled - middle).astype(np.intp))
