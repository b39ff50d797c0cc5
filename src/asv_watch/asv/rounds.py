"""Which rounds of which cases an ``asv run`` measures: those that are not stored."""

from __future__ import annotations

from collections import Counter
from typing import Any

from asv_watch.asv import skipping
from asv_watch.asv.cases import case_name, cases_of
from asv_watch.asv.skipping import Remaining


class Rounds:
    """The rounds of a run, while asv goes through them.

    Attributes:
        finished_early: asv's result of each case that failed or was skipped in this run; its
            further rounds are not measured.
    """

    def __init__(self, remaining: Remaining, options: dict[str, Any]) -> None:
        """Begin before the first round."""
        self._remaining = remaining
        self._options = options
        self._calls: Counter[str] = Counter()
        self.finished_early: dict[str, Any] = {}

    def plan(self) -> dict[str, int]:
        """Return the number of rounds that each case will run in."""
        benchmarks = self._remaining.benchmarks
        plan = {}
        for benchmark in benchmarks.values():
            cases = cases_of(benchmark)
            for index in skipping.selected_cases(benchmarks, benchmark):
                case = case_name(benchmark, cases[index])
                report = self._remaining.continued.get(case)
                plan[case] = self._of(benchmark) if report is None else report.rounds_left
        return plan

    def begin(self, case: str) -> int:
        """Return how many rounds of a case asv has asked for before, and count this one."""
        self._calls[case] += 1
        return self._calls[case] - 1

    def first(self, benchmark: dict[str, Any], case: str) -> int:
        """Return how many rounds of a case are stored and not measured again."""
        report = self._remaining.continued.get(case)
        return 0 if report is None else max(0, self._of(benchmark) - report.rounds_left)

    def left_after(self, benchmark: dict[str, Any], call: int) -> int:
        """Return how many rounds of a case follow the one that is asked for now.

        Args:
            benchmark: That of the case.
            call: What `begin` returned.
        """
        in_turn = self._options.get("run_rounds")
        return self._of(benchmark) - call - 1 if in_turn is None else int(in_turn[0]) - 1

    def _of(self, benchmark: dict[str, Any]) -> int:
        attributes = self._options.get("extra_params") or {}
        asked = "1" if self._options.get("quick") else attributes.get("rounds")
        rounds = int(asked or benchmark.get("rounds", 1))
        in_turn = self._options.get("run_rounds")  # of this turn, where commits are interleaved
        return rounds if in_turn is None else sum(number <= rounds for number in in_turn)
