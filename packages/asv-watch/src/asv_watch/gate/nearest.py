"""The cases that a diff may have made slower, the nearest first; more are profiled meanwhile."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.sides import Side
from asv_watch.gate.changes import Changed
from asv_watch.gate.measure import FIRST_TOGETHER, InOrder
from asv_watch.gate.ranking import Profiler, rank
from asv_watch.machine.budget import Budget
from asv_watch.progress import Display, human_time
from asv_watch.text import quantities

SHARE_OF_LOOKING = 0.2
"""Share of the time limit, and later of the remaining time, for profiling cases."""
_IMPORT_SHARE_OF_LOOKING = 0.2
"""Importing a suite may take this share of all looking."""
_WORTH_MEASURING_FIRST = 0.1
"""Share of the nearest case's share that a case needs to be in the first group."""
_MOST_REASONS = 5
"""Most lines about cases that could not be called."""


class Nearest:
    """The cases that a diff can have made slower, the nearest first; others if time is left."""

    def __init__(
        self,
        listed: Sequence[MeasurableCase],
        texts: Mapping[str, str],
        changes: Changed,
        budget: Budget,
        looking_s: float,
    ) -> None:
        """Order the cases by names.

        Args:
            listed: the cases to choose from.
            texts: source of each benchmark, by its name.
            changes: what was changed.
            budget: time that is left.
            looking_s: how long looking may take, all looks together; names alone decide if there
                is no time for it.
        """
        timed = [case for case in listed if case.is_timed]
        self._candidates = [case for case in timed if case.short] or timed or list(listed)
        self._is_timed = bool(timed)
        self._texts, self._changes, self._budget = texts, changes, budget
        self._looking_s = looking_s
        self._profiler: Profiler | None = None

    @contextmanager
    def looking(self, head: Side) -> Iterator[None]:
        """Keep a profiler for `look` until the body ends."""
        if not (self._changes.functions and self._is_timed and self._looking_s > 0):
            yield
            return
        by_name = rank(self._candidates, {}, self._texts, self._changes)
        import_s = _IMPORT_SHARE_OF_LOOKING * self._looking_s
        with Profiler(head, by_name, self._changes, import_s) as self._profiler:
            yield

    def look(self, seconds: float, begun: Collection[str] = ()) -> None:
        """Profile further cases for some seconds, and report their number."""
        profiler, seconds = self._profiler, min(seconds, self._looking_s)
        if profiler is None or profiler.is_done or seconds <= 0:
            return
        failed_before = set(profiler.failures)
        measured = {case.identity for case in self._candidates if case.name in begun}
        started = time.monotonic()
        with Display().during("profiling which cases run what changed", self._budget):
            profiler.look(seconds, measured)
        took_s = time.monotonic() - started
        self._looking_s -= took_s
        near_count = sum(bool(share) for share in profiler.shares.values())
        print(
            f"looked at {profiler.count_of_answers} of "
            f"{quantities.counted(profiler.count, 'case')} in {human_time(took_s)}: "
            f"{near_count} run what changed",
            flush=True,
        )
        _report(
            {
                case: reason
                for case, reason in profiler.failures.items()
                if case not in failed_before
            }
        )

    def ranked(self) -> list[MeasurableCase]:
        """List the cases that may run what changed, the nearest first."""
        return rank(self._candidates, self._shares, self._texts, self._changes)

    @property
    def _shares(self) -> Mapping[str, float]:
        return self._profiler.shares if self._profiler else {}

    def next_group(self, begun: Collection[str], fitting: int) -> Sequence[MeasurableCase]:
        """Return the cases to measure next."""
        if begun:
            self.look(self._budget.left_s * SHARE_OF_LOOKING, begun)
        ranked = self.ranked()
        first = self._count_first(ranked) if not begun else 0
        return InOrder(ranked, first).next_group(begun, fitting)

    def _count_first(self, ranked: Sequence[MeasurableCase]) -> int:
        print("the nearest cases:")
        nearest = ranked[:FIRST_TOGETHER]
        for case in nearest:
            share = self._shares.get(case.identity)
            note = f" (changed functions: {quantities.share(share)})" if share else ""
            print(f"  {case.name}{note}", flush=True)
        shares = [self._shares.get(case.identity, 0.0) for case in nearest]
        least = _WORTH_MEASURING_FIRST * max(shares, default=0.0)
        return sum(share >= least for share in shares)


def _report(failures: dict[str, str]) -> None:
    first = {reason: case for case, reason in reversed(failures.items())}
    for reason, count in Counter(failures.values()).most_common(_MOST_REASONS):
        others = f" and {count - 1} more" if count > 1 else ""
        print(f"  not called: {first[reason]}{others}: {reason}", flush=True)
