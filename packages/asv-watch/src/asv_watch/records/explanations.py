"""Stored explanations of differences: ``results/<machine>/explanations.jsonl``.

One JSON object a line, the newest last: why one case takes longer, or less, with one version than
with another, operator by operator (``asv-watch explain``).
"""

from typing import Annotated, Literal

import msgspec

from asv_watch.comparison import Time
from asv_watch.versions.version import Version

FILE_NAME = "explanations.jsonl"

Seconds = Annotated[float, msgspec.Meta(ge=0)]
Count = Annotated[float, msgspec.Meta(ge=0)]


class OperatorDifference(msgspec.Struct, frozen=True):
    """One operator with one set of input shapes, before and after, in one call of the case."""

    name: str
    """Name, such as ``aten::convolution``."""
    shapes: str
    """Shapes of its inputs, such as ``[[8, 3, 32, 32], [6, 3, 5, 5]]``."""
    calls: tuple[Count, Count]
    seconds: tuple[Seconds, Seconds]
    """Smallest self time, which excludes the operators that it calls."""
    clear: bool
    """Whether all times of one side are above all times of the other."""

    @property
    def difference(self) -> float:
        """Seconds after minus seconds before."""
        return self.seconds[1] - self.seconds[0]


class KernelChange(msgspec.Struct, frozen=True):
    """A problem for which a library, such as oneDNN, chose different kernels."""

    primitive: str
    """Name, such as ``convolution``."""
    problem: str
    """Its sizes, as the library writes them."""
    before: tuple[str, ...]
    """Implementations, such as ``ref:any``; empty if the problem did not occur."""
    after: tuple[str, ...]


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between two versions in one call of a case."""

    seconds: tuple[Seconds, Seconds]
    """Sum of all operators' self times, before and after."""
    operators: tuple[OperatorDifference, ...]
    """Operators, those that differ clearly first, the largest difference first."""
    kernels: tuple[KernelChange, ...] = ()
    counts: dict[str, tuple[Count, Count]] = {}
    """What the profiler counted, before and after, such as ``allocations``."""


class StoredExplanation(msgspec.Struct, frozen=True, kw_only=True):
    """An explanation with its case and versions."""

    case: str
    """asv's name of the case: ``suite.Class.time_x('darnn', 'cpu')``."""
    at: Time
    """When it was made, seconds since the epoch."""
    before: Version
    after: Version
    explanation: Explanation
    format: Literal[2] = 2
