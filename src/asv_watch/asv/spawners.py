"""Chooses what runs a case: asv's ``Spawner``, or what does the same in less time."""

from __future__ import annotations

from typing import Any

from asv_watch.asv.cases import case_name, cases_of, process_name
from asv_watch.asv.forking import ForkingSpawner, may_fork
from asv_watch.asv.overlapping import OverlappingSpawner, cases_at_once, may_overlap
from asv_watch.asv.rounds import Rounds


class Spawners:
    """All of them, for the run of one commit in one environment."""

    def __init__(self, spawner: Any, rounds: Rounds, options: dict[str, Any]) -> None:
        """Start the process that cases are forked from.

        Args:
            spawner: asv's own.
            rounds: Which cases come next.
            options: Keyword arguments of asv's ``run_benchmarks``.
        """
        self._spawner = spawner
        self._rounds = rounds
        self._at_once = cases_at_once(options)
        self.forking = ForkingSpawner(spawner)
        self._overlapping = OverlappingSpawner(spawner, self._at_once)

    def for_case(self, benchmark: dict[str, Any], index: int, *, profile: bool) -> Any:
        """Return what runs a case, and start nothing yet."""
        expected = []
        if self._at_once > 1 and not profile:
            names = self._rounds.still_measured(benchmark, index)
            expected = [names[case] for case in names if may_overlap(benchmark, case)]
        self._overlapping.expect(expected)
        if may_fork(benchmark, case_name(benchmark, cases_of(benchmark)[index])):
            return self.forking
        overlaps = process_name(benchmark, index) in expected
        return self._overlapping if overlaps else self._spawner

    def close(self) -> None:
        """End the process that cases are forked from, and cases that were started ahead."""
        self.forking.close()
        self._overlapping.close()
