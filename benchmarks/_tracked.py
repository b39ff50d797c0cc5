"""Tracked values that one process measures for many cases, or that ``setup`` measures."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import reduce
from itertools import product
from operator import getitem
from typing import Any, TypeVar

from ._suite import _Suite

Measured = dict[str, Any]
"""Names to values, in levels; or one name, ``skipped`` or ``failed``, to the reason."""

Outcomes = dict[tuple[Any, ...], Measured]
"""Values of a case's parameters to what was measured of it."""

F = TypeVar("F", bound=Callable[..., Any])


def stopped_after(seconds: float) -> Callable[[F], F]:
    """Let asv stop a ``setup_cache`` after so many seconds."""

    def mark(function: F) -> F:
        vars(function)["timeout"] = seconds
        return function

    return mark


def tracked(
    *names: str,
    unit: str,
    scale: float = 1,
    higher_is_better: bool = False,
    exact: bool = False,
) -> Callable[..., float]:
    """Make a ``track_*`` that returns one value of what ``setup`` left in ``self.measured``.

    Args:
        names: where the value is, from the outermost level to the innermost.
        unit: of the returned value.
        scale: what the value is multiplied by.
        higher_is_better: as the site judges changes.
        exact: the value is the same in every run, whatever the suite's other values are.
    """

    def track(self: Any, *case: Any) -> float:
        value: float | None = reduce(getitem, names, self.measured)
        if value is None:
            raise RuntimeError(self.measured.get("error") or "it ran, and has no such value")
        return value if scale == 1 else scale * value

    track.__dict__["unit"] = unit
    if higher_is_better:
        track.__dict__["higher_is_better"] = True
    if exact:
        track.__dict__["exact"] = True
    return track


class _MeasuredOnce(_Suite):
    """One process measures all cases; each case looks its values up and needs no torch.

    asv tells the caches of suites apart by the line of ``setup_cache``. So each suite has
    its own, ``return self.measure_all()`` under a `stopped_after`.
    """

    may_fork = True  # where its values are looked up
    measured: Measured

    def measure(self, *case: Any) -> Measured:
        """Measure one case.

        Raises:
            NotImplementedError: It cannot run here.
        """
        raise AssertionError(f"{type(self).__name__} does not say how a case is measured")

    def measure_all(self) -> Outcomes:
        """Measure every case, or those of the short set where a run has no others.

        A failure or a skip leaves the others alone.
        """
        outcomes: Outcomes = {}
        short_only = bool(os.environ.get("TORCHSPEED_SHORT"))
        for case in product(*self.params):
            if short_only and not self.is_short(case):
                continue
            try:
                outcomes[case] = self.measure(*case)
            except NotImplementedError as reason:
                outcomes[case] = {"skipped": str(reason)}
            except Exception as error:
                outcomes[case] = {"failed": f"{type(error).__name__}: {error}"}
        return outcomes

    def setup(self, outcomes: Outcomes, *case: Any) -> None:
        """Look the case up.

        Raises:
            NotImplementedError: It was skipped.
            RuntimeError: It failed.
        """
        self.measured = outcomes[case]
        if "skipped" in self.measured:
            raise NotImplementedError(self.measured["skipped"])
        if "failed" in self.measured:
            raise RuntimeError(self.measured["failed"])
