"""Narrows a change between two versions down to neighbours, by measuring midpoints.

Two versions are *different*, the *same* or it is *unknown* which. A range whose ends are different
is split at a midpoint, and both halves are compared, so that several changes in one range are all
found. A half that is not clear is searched where the other half is the same: the change must lie
in it. Versions that cannot be measured are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum


class Answer(Enum):
    """Whether two versions differ."""

    DIFFERENT = "different"
    SAME = "same"
    UNKNOWN = "unknown"
    """The measurements are too noisy to tell."""


class UnmeasurableError(Exception):
    """The midpoint cannot be measured, such as a commit that does not run."""


Range = tuple[int, int]
"""Indices of the last version that is known to come before a change, and of the first that is
known to come after it, where it was not narrowed any further."""

Split = Callable[[int, int, int], tuple[Answer, Answer]]
"""Compares two versions, given by their indices, with the midpoint that comes last: the first
with the midpoint, and the midpoint with the second.

Raises:
    UnmeasurableError: the midpoint cannot be measured.
"""


def narrow(versions: int, split: Split) -> list[Range]:
    """Find the changes between the first and the last version, which are different.

    Args:
        versions: how many there are, oldest first; two at least.
        split: asked about each range and midpoint at most once.

    Returns:
        A range for each change, in order. Its ends are neighbours, unless what lies between
        cannot be measured, or differs from neither end clearly.
    """
    return list(_narrow(0, versions - 1, split))


def _narrow(before: int, after: int, split: Split) -> Iterator[Range]:
    middle = (before + after) / 2
    for midpoint in sorted(range(before + 1, after), key=lambda index: abs(index - middle)):
        try:
            first, second = split(before, after, midpoint)
        except UnmeasurableError:
            continue
        in_first = first is Answer.DIFFERENT or (first is Answer.UNKNOWN and second is Answer.SAME)
        in_second = second is Answer.DIFFERENT or (
            second is Answer.UNKNOWN and first is Answer.SAME
        )
        if in_first:
            yield from _narrow(before, midpoint, split)
        if in_second:
            yield from _narrow(midpoint, after, split)
        if not (in_first or in_second):
            yield before, after
        return
    yield before, after
