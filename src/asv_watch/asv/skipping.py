"""Decides which cases, and which rounds of them, an ``asv run`` measures.

Skipping a case costs asv a process, two seconds each, whether ``setup`` raises or a decorator
says so. A case that needs a GPU which this machine has not, or that ``skip_for_params``
names, is recorded as skipped without one. With ``ASV_WATCH_RESUME`` in the environment, cases
that are stored completely at this commit in this environment are not measured again
(``missing``), nor those that failed (``never-run``).
"""

from __future__ import annotations

import itertools
import math
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from asv_watch.asv.declared import declared
from asv_watch.asv.selection import (
    SHARD,
    SHORT_ONLY,
    cannot_run,
    case_name,
    cases_of,
    in_short_set,
    parse_shard,
)
from asv_watch.records.records import Outcome
from asv_watch.records.reported_value import is_finite_number
from asv_watch.records.side_files import Report


@dataclass
class Remaining:
    """What an ``asv run`` of one commit in one environment has to do."""

    benchmarks: Any
    """asv's ``Benchmarks``, narrowed to what has to run."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Cases that cannot run here, each with the reason."""
    continued: dict[str, Report] = field(default_factory=dict)
    """Cases of which some rounds are stored, each with its last report."""


def select(
    benchmarks: Any, results: Any, resume: str | None, reports: Mapping[str, Report] | None
) -> Remaining:
    """Leave out what need not run.

    With ``ASV_WATCH_SHORT`` in the environment, cases that are not in the short set are left out;
    with ``ASV_WATCH_SHARD``, so are the remaining cases that belong to another part.

    Args:
        benchmarks: asv's ``Benchmarks`` with what was asked for.
        results: asv's ``Results`` with what is stored.
        resume: ``missing``, ``never-run``, or ``None`` to measure everything again.
        reports: The stored outcomes, by case; ``None`` if there is no file of outcomes.
    """
    narrowed = benchmarks.filter_out([])
    narrowed._benchmark_selection = dict(narrowed.benchmark_selection)
    remaining = Remaining(narrowed)
    short_only = bool(os.environ.get(SHORT_ONLY))
    shard, shards = parse_shard(os.environ.get(SHARD, "1/1"))
    places = itertools.count(1)
    known = results.get_result_keys(benchmarks)
    for name, benchmark in sorted(benchmarks.items()):
        cases = cases_of(benchmark)
        asked = [
            index
            for index in selected_cases(benchmarks, benchmark)
            if (not short_only or in_short_set(benchmark, cases[index]))
            and next(places) % shards == shard % shards
        ]
        if not asked:
            del narrowed[name]
            continue
        stored: list[Any] = [math.nan] * len(cases)
        if resume and name in known:
            stored = results.get_result_value(name, benchmark["params"])
        wanted, reasons = [], {}
        for index in asked:
            case = case_name(benchmark, cases[index])
            reason = cannot_run(benchmark, cases[index], declared())
            if reason:
                reasons[case] = reason
                continue
            if is_finite_number(stored[index]):
                if reports is None:
                    continue  # asv stored it without this plugin, and so all of its rounds
                # Without a report a kill came between the value of a first round and its outcome.
                report = reports.get(case)
                if report is not None:
                    is_failed = report.outcome is not Outcome.OK
                    if not report.rounds_left or (is_failed and resume == "never-run"):
                        continue
                    remaining.continued[case] = report
            elif stored[index] is None and resume == "never-run":
                continue
            wanted.append(index)
        if not wanted and name in known:
            del narrowed[name]  # nothing to add: what is stored stays as it is
            continue
        remaining.skipped |= reasons
        if benchmark["params"]:
            narrowed._benchmark_selection[name] = wanted
    return remaining


def selected_cases(benchmarks: Any, benchmark: dict[str, Any]) -> list[int]:
    """Positions of a benchmark's cases that a run of ``benchmarks`` measures."""
    chosen = benchmarks.benchmark_selection.get(benchmark["name"])
    return list(range(len(cases_of(benchmark))) if chosen is None else chosen)


class Rounds:
    """The rounds of a run, while asv goes through them.

    Attributes:
        finished_early: asv's result of each case that failed or was skipped in this run; its
            further rounds are not measured.
    """

    def __init__(self, remaining: Remaining, options: dict[str, Any]) -> None:
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
            for index in selected_cases(benchmarks, benchmark):
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
        """Return how many rounds of a case follow the one that `begin` returned a number for."""
        in_turn = self._options.get("run_rounds")
        return self._of(benchmark) - call - 1 if in_turn is None else int(in_turn[0]) - 1

    def _of(self, benchmark: dict[str, Any]) -> int:
        attributes = self._options.get("extra_params") or {}
        asked = "1" if self._options.get("quick") else attributes.get("rounds")
        rounds = int(asked or benchmark.get("rounds", 1))
        in_turn = self._options.get("run_rounds")  # of this turn, where commits are interleaved
        return rounds if in_turn is None else sum(number <= rounds for number in in_turn)
