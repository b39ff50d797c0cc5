"""The cases of a benchmark, and which a run measures: all, the short set, those of a pattern.

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
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from asv_watch.asv.declared import Declared, declared
from asv_watch.errors import WatchError
from asv_watch.machine.facts import gpu_is_plainly_absent
from asv_watch.records.records import Outcome
from asv_watch.records.reported_value import is_finite_number
from asv_watch.records.side_files import Report


def case_name(benchmark: dict[str, Any], params: tuple[str, ...]) -> str:
    """Name a case as asv's ``--bench`` matches it: ``suite.Class.time_x('darnn', 'cpu')``."""
    return f"{benchmark['name']}({', '.join(params)})" if params else str(benchmark["name"])


def cases_of(benchmark: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the product of a benchmark's parameters, in asv's order."""
    return list(itertools.product(*benchmark["params"])) if benchmark["params"] else [()]


def process_name(benchmark: dict[str, Any], index: int) -> str:
    """Name a case as asv's script does, by its place in `cases_of`."""
    return f"{benchmark['name']}-{index}" if benchmark["params"] else str(benchmark["name"])


def skipped_because(benchmark: dict[str, Any]) -> str:
    """Return the suite's reasons for skipping cases of a benchmark."""
    return str(benchmark.get("skipped_because") or "skipped by its suite")


def cannot_run(benchmark: dict[str, Any], params: tuple[str, ...], declared: Declared) -> str:
    """Return why a case is skipped, as far as no process is needed to tell; empty if it runs."""
    if declared.uses_gpu(case_name(benchmark, params)) and gpu_is_plainly_absent():
        return "no GPU on this machine"
    # asv's list of cases names values by their repr, the decorator's holds the values.
    if any(params == tuple(map(repr, values)) for values in benchmark.get("skip_params", [])):
        return skipped_because(benchmark)
    return ""


_SHORT_ONLY = "ASV_WATCH_SHORT"
"""Environment variable by which `select` leaves only the short set."""
_SHARD = "ASV_WATCH_SHARD"
"""Environment variable, such as ``2/5``: measure the second fifth of the selected cases."""


def parse_shard(text: str) -> tuple[int, int]:
    """Read ``2/5``: of the selected cases every fifth, from the second on.

    Raises:
        WatchError: It is not such a part.
    """
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise WatchError(
            f"--shard {text[:100]!r} is not a part of the cases; give one such as 2/5, the "
            "second of five"
        )
    return int(match[1]), int(match[2])


@dataclass(frozen=True, slots=True)
class Selection:
    """Conditions on a case; it is measured where all of them hold."""

    pattern: str = ""
    """Regular expression that its name contains, as asv matches it."""
    short: bool = False
    """It belongs to the short set, as asv.conf.json declares (`SuiteEntry.short`)."""
    shard: str = ""
    """It belongs to this part (`parse_shard`) of the cases that the other conditions leave. Only
    an ``asv run`` divides them, since it takes all of them to say which part a case belongs to."""

    def includes(self, benchmark: dict[str, Any], params: tuple[str, ...]) -> bool:
        """Tell whether a case is selected."""
        return (not self.short or in_short_set(benchmark, params)) and re.search(
            self.pattern, case_name(benchmark, params)
        ) is not None

    def __str__(self) -> str:
        return ", ".join(["the short set"] * self.short + [self.pattern] * bool(self.pattern))

    @property
    def asv_arguments(self) -> list[str]:
        """Arguments of ``asv run`` for the pattern."""
        return ["--bench", self.pattern] if self.pattern else []

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables of ``asv run`` for what its arguments cannot say."""
        variables = {_SHORT_ONLY: "1"} if self.short else {}
        return variables | ({_SHARD: self.shard} if self.shard else {})


EVERYTHING = Selection()
SHORT = Selection(short=True)
"""What ``make bench`` measures."""


def in_short_set(benchmark: dict[str, Any], params: tuple[str, ...]) -> bool:
    """Tell whether a case belongs to the short set: all cases of a suite that declares none do."""
    short = benchmark.get("short", True)
    if not isinstance(short, dict):
        return bool(short)
    values = dict(zip(benchmark["param_names"], params, strict=True))
    return all(values[name] in map(repr, wanted) for name, wanted in short.items())


def matching(pattern: str, *, otherwise: Selection) -> Selection:
    """Return the cases whose name matches what was typed, or ``otherwise`` if that is nothing.

    Raises:
        WatchError: It is not a regular expression.
    """
    if not pattern:
        return otherwise
    try:
        re.compile(pattern)
    except re.error as error:
        raise WatchError(
            f"cases {pattern!r} is not a regular expression ({error}); try a part of a name"
        ) from error
    return Selection(pattern)


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
    short_only = bool(os.environ.get(_SHORT_ONLY))
    shard, shards = parse_shard(os.environ.get(_SHARD, "1/1"))
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
