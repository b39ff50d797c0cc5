"""Runs as rows of an array: how a cache keeps a result file, and a series its runs.

As records of Python, the million runs of a long history take seconds to make and to walk; as rows
they take hundredths of that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain

import msgspec
import numpy as np
import numpy.typing as npt

from asv_watch.records.records import Outcome, Point, Run

Rows = npt.NDArray[np.void]
"""A structured array of `ROW`."""

OUTCOMES = tuple(Outcome)
UNKNOWN_TIME = -(2**63)
NO_NUMBER = float("nan")
"""In place of a value, or of the ends of an interval, that there is not."""
ROW = np.dtype(
    [
        ("place", "<i4"),  # of the case in a file, or of the commit in a series
        ("outcome", "u1"),  # place in `OUTCOMES`
        ("reason", "<i4"),  # place in the texts
        ("recipe", "<i4"),  # place in the texts
        ("value", "<f8"),
        ("low", "<f8"),
        ("high", "<f8"),
        ("q1", "<f8"),
        ("q3", "<f8"),
        ("started_at", "<i8"),
        ("at", "<i8"),
        ("samples", "<i4"),  # number of them
    ]
)


class PackedRuns(msgspec.Struct, array_like=True):
    """Runs as bytes."""

    rows: bytes
    """Of an array of `ROW`, a row for each run."""
    samples: bytes
    """Of all runs, one after the other, as 64-bit floating-point numbers."""
    texts: list[str]
    """Reasons and recipes."""


def pack(runs: Mapping[int, Run]) -> PackedRuns:
    """Pack runs.

    Args:
        runs: Place to run.

    Raises:
        OverflowError: A time has more than 64 bits.
    """
    texts: dict[str, int] = {}
    rows = [
        (
            place,
            OUTCOMES.index(run.outcome),
            texts.setdefault(run.reason, len(texts)),
            texts.setdefault(run.recipe, len(texts)),
            *_numbers(run.point),
            UNKNOWN_TIME if run.at is None else run.at,
            0 if run.point is None else len(run.point.samples),
        )
        for place, run in runs.items()
    ]
    samples = chain.from_iterable(run.point.samples for run in runs.values() if run.point)
    return PackedRuns(
        np.array(rows, dtype=ROW).tobytes(),
        np.fromiter(samples, dtype="<f8").tobytes(),
        list(texts),
    )


def unpack(
    row: tuple[int, int, int, int, float, float, float, float, float, int, int, int],
    texts: Sequence[str],
    samples: tuple[float, ...],
) -> Run:
    """Return the run of a row.

    Args:
        row: A row of an array of `ROW` as Python's own numbers.
        texts: Reasons and recipes.
        samples: Its samples.
    """
    _, outcome, reason, recipe, value, low, high, q1, q3, started_at, at, _ = row
    point = None
    if not math.isnan(value):
        point = Point(
            value,
            _pair(low, high),
            _pair(q1, q3),
            samples,
            _time(started_at),
        )
    return Run(OUTCOMES[outcome], point, texts[reason], _time(at), texts[recipe])


def _numbers(point: Point | None) -> tuple[float, float, float, float, float, int]:
    if point is None:
        return (NO_NUMBER,) * 5 + (UNKNOWN_TIME,)
    low, high = point.interval or (NO_NUMBER, NO_NUMBER)
    q1, q3 = point.quartiles or (NO_NUMBER, NO_NUMBER)
    started_at = UNKNOWN_TIME if point.started_at is None else point.started_at
    return (point.value, low, high, q1, q3, started_at)


def _pair(low: float, high: float) -> tuple[float, float] | None:
    return None if math.isnan(low) else (low, high)


def _time(stored: int) -> int | None:
    return None if stored == UNKNOWN_TIME else stored
