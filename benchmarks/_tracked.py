"""Tracked values that are measured for many cases at once, or once for those that share them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import reduce
from importlib import import_module
from itertools import product
from operator import getitem
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from ._forks import outcomes_in_forks
from ._selection import selected_of
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


def measured_once(record: Path, measure: Callable[[], Measured]) -> Measured:
    """Return what a case of this run has recorded; the first case measures, and records it."""
    if not record.exists():
        record.write_text(json.dumps(measure()), encoding="utf-8")
    measured: Measured = json.loads(record.read_text(encoding="utf-8"))
    return measured


class _MeasuredOnce(_Suite):
    """``setup_cache`` measures the cases of a run; each looks its values up and needs no torch.

    asv identifies a cache by the line of its ``setup_cache``. So each suite has its own,
    ``return self.measure_all()`` under a `stopped_after`.
    """

    may_fork = True  # where its values are looked up
    counting_modules: ClassVar[Sequence[str]] = ()
    """What counts, where no value depends on a clock: the CPU's cases are then measured at the
    same time, in forks of a process that has imported these modules."""

    measured: Measured

    def measure(self, *case: Any) -> Measured:
        """Measure one case.

        Raises:
            NotImplementedError: It cannot run here.
        """
        raise AssertionError(f"{type(self).__name__} does not say how a case is measured")

    def measure_all(self) -> Outcomes:
        """Measure the cases of this run; a failure or a skip leaves the others alone."""
        cases = selected_of(type(self), product(*self.params))
        outcomes: Outcomes = {}
        if self.counting_modules:
            for name in self.counting_modules:
                with suppress(ImportError):  # the cases say what this commit lacks
                    import_module(name)
            on_cpu = [case for case in cases if "cuda" not in case]
            outcomes |= outcomes_in_forks(self._outcome_of, on_cpu)
        # CUDA comes after the forks: a process that has initialised it must not fork.
        return outcomes | {case: self._outcome_of(case) for case in cases if case not in outcomes}

    def _outcome_of(self, case: tuple[Any, ...]) -> Measured:
        """Measure one case, or return why it has no values."""
        try:
            return self.measure(*case)
        except NotImplementedError as reason:
            return {"skipped": str(reason)}
        except Exception as error:
            return {"failed": f"{type(error).__name__}: {error}"}

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
