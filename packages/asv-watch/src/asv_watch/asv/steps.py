"""Levels of a series, found by asv's step detection."""

from typing import NamedTuple

import numpy as np
from asv import step_detect

from asv_watch.statistics.ratio import Floats

_LARGEST = 1e100
"""With values near the largest number, step detection never ends; no measurement is that large."""


class Level(NamedTuple):
    """Successive values of a series around one level."""

    first: int
    """Index of the first value."""
    end: int
    """Index after the last value."""
    value: float
    """In the unit of the values."""


def find_levels(values: Floats) -> list[Level]:
    """Return the levels of finite values, oldest first; none if a value is too large."""
    if np.abs(values).max(initial=0) > _LARGEST:
        return []
    steps = step_detect.detect_steps(values.tolist())
    return [Level(first, end, value) for first, end, value, *_ in steps]
