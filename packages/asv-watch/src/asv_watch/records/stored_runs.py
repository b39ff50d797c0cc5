"""The runs that a result file holds, with what the record beside it says of them.

Outcome of a case, from its stored value and its line of the record
(`asv_watch.records.side_files`):

========================  ======================================================
stored value              outcome
========================  ======================================================
a finite number           ok
``null``                  as the record says, else failed for an unknown reason
``NaN``, or no row        as the record says, else never run
infinite, text, other     failed, with that as the reason, and a ``Problem``
========================  ======================================================

A line of other code of the benchmark does not count. If asv's file lacks a value that the
record has, as after a kill between the two, the value is the record's, without an interval.
"""

from __future__ import annotations

import itertools
import math
import operator
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from asv_watch.comparison import Comparison, Outcome
from asv_watch.records.columns import CommitRuns
from asv_watch.records.labels import Layout
from asv_watch.records.peak_memory import PRIVATE, resident_benchmark
from asv_watch.records.records import (
    NEVER_RUN,
    Benchmark,
    Case,
    Point,
    Problem,
    Run,
    code_version,
    recipe_of,
)
from asv_watch.records.result_files import (
    LARGEST,
    NUMBERS,
    DamagedError,
    ResultFile,
    Row,
    is_finite_number,
    is_missing,
)

_OK = Outcome.OK  # looking up a member of an enumeration takes as long as making a run
SPREAD_COLUMNS = ("stats_ci_99_a", "stats_ci_99_b")


class RunReader:
    """Matches result files with the cases of today's benchmarks."""

    def __init__(self, benchmarks: Mapping[str, Benchmark], layout: Layout) -> None:
        """Expand the parameters of the benchmarks."""
        self._benchmarks = benchmarks
        resident = {
            name: resident_benchmark(benchmark)
            for name, benchmark in benchmarks.items()
            if benchmark.type == PRIVATE
        }
        self.benchmarks = {
            shown.name: shown
            for name, benchmark in benchmarks.items()
            for shown in (benchmark, resident.get(name, benchmark))
        }
        """Today's benchmarks, and those of the resident memory that runs may have stored."""
        self.cases = [
            Case(benchmark.name, params, layout.labels_of(benchmark, params))
            for benchmark in self.benchmarks.values()
            for params in itertools.product(*benchmark.params)
        ]
        """All cases of the benchmarks."""
        self._numbers = {
            (case.benchmark, case.params): number for number, case in enumerate(self.cases)
        }
        self._resident = {
            number: self._numbers[resident[case.benchmark].name, case.params]
            for number, case in enumerate(self.cases)
            if case.benchmark in resident
        }
        """Maps the index of a peak-memory case to that of its resident-memory case."""
        self.peak_memory = {self.cases[number].name: number for number in self._resident}
        """Maps the name of a peak-memory case to its index."""
        self._named = {case.name: number for number, case in enumerate(self.cases)}
        self._resident_names = {name: shown.name for name, shown in resident.items()}
        """Maps the name of a peak-memory benchmark to that of its resident memory, which is what
        asv measures."""
        self._layouts: dict[tuple[str, tuple[tuple[str, ...], ...]], list[int]] = {}
        self.problems: list[Problem] = []
        """Results that could not be read."""
        self.left_out: Counter[tuple[str, str]] = Counter()
        """Number of results that were left out, by benchmark and reason."""

    def read(
        self, path: Path, content: ResultFile, record: Mapping[str, Comparison]
    ) -> CommitRuns:
        """Read the runs of one result file.

        Args:
            path: The file, for messages.
            content: Its content, for a commit on the branch.
            record: What was measured of its cases, by their names.

        Returns:
            The run of each case that was run.
        """
        runs = CommitRuns()
        outdated = set()
        recorded = {
            self._named[name]: case
            for name, case in record.items()
            if name in self._named and self._is_of_today(case, self._named[name])
        }
        for name in content.results:
            benchmark = self._benchmarks.get(name)
            if benchmark is None:
                self.left_out[name, "no suite has this benchmark any more"] += 1
                continue
            try:
                row = content.row(name)
                if row.version and code_version(row.version) != benchmark.code_version:
                    outdated.add(name)
                    self.left_out[name, "measured with other code of the benchmark"] += 1
                else:
                    recipe = sys.intern(recipe_of(row.version))
                    self._read_row(path, name, row, recorded, recipe, runs)
            except DamagedError as error:
                self._problem(path, f"{name}: {error}; its results are left out")
        with_run = set(runs.cases) if recorded else set()
        for number, case in recorded.items():  # asv's file may have no row of it
            if number in with_run or self._resident.get(number) in with_run:
                continue
            if case.benchmark_version or self.cases[number].benchmark not in outdated:
                runs.add(number, _from_record(case))
        return runs

    def _is_of_today(self, case: Comparison, number: int) -> bool:
        if not case.benchmark_version:
            return True
        benchmark = self.benchmarks[self.cases[number].benchmark]
        return code_version(case.benchmark_version) == benchmark.code_version

    def _problem(self, path: Path, message: str) -> None:
        self.problems.append(Problem(str(path), message))

    def _read_row(
        self,
        path: Path,
        name: str,
        row: Row,
        recorded: Mapping[int, Comparison],
        recipe: str,
        runs: CommitRuns,
    ) -> None:
        columns = [row.column("result")]
        for column in SPREAD_COLUMNS:
            try:
                columns.append(row.column(column))
            except DamagedError as error:
                self._problem(path, f"{name}: {error}; its values are shown without {column}")
                columns.append([None] * row.count)
        numbers = self._layout(name, row)
        cases = self._layout(self._resident_names.get(name, name), row)
        is_plain = [True] * row.count
        plain = None
        if recorded.keys().isdisjoint(numbers) and -1 not in numbers:
            plain = _plain_numbers(columns)
        if plain is None:
            is_plain = [
                type(value) is float and number >= 0 and number not in recorded
                for value, number in zip(columns[0], numbers, strict=True)
            ]
            cases = list(itertools.compress(cases, is_plain))
            plain = _plain_numbers(
                [list(itertools.compress(entry, is_plain)) for entry in columns]
            )
        if plain is None:
            is_plain = [False] * row.count
        else:
            runs.add_alike(cases, *plain, Run(_OK, None, "", row.started_at, recipe))
        if not all(is_plain):
            self._read_others(path, name, row, columns, is_plain, recorded, recipe, runs)

    def _read_others(
        self,
        path: Path,
        name: str,
        row: Row,
        columns: Sequence[Sequence[Any]],
        is_plain: Sequence[bool],
        recorded: Mapping[int, Comparison],
        recipe: str,
        runs: CommitRuns,
    ) -> None:
        numbers = self._layout(name, row)
        indices = [index for index, plain in enumerate(is_plain) if not plain]
        entries = [[column[index] for index in indices] for column in columns]
        cases = [recorded.get(numbers[index]) for index in indices]
        is_peak = name in self._resident_names
        from_asv: set[int] = set()
        row_runs: dict[int, Run] = {}
        unusable = 0
        for index, value, case, run in zip(
            indices,
            entries[0],
            cases,
            runs_of_row(entries, row.started_at, cases, recipe),
            strict=True,
        ):
            number = numbers[index]
            if number < 0:
                if is_finite_number(value):
                    self.left_out[name, "no suite has this combination of parameters"] += 1
            elif run is None:
                unusable += 1
                reason = f"it gave no finite number: {value!r}"
                row_runs[number] = Run(Outcome.FAILED, None, reason, row.started_at)
            elif run is not NEVER_RUN:
                row_runs[number] = run
                if is_peak and run.point is not None and not (case and case.rounds):
                    from_asv.add(number)
        # A run without a value gets the metric of the other runs in its row.
        is_asv_row = bool(from_asv) or (is_peak and any(is_plain))
        for number, run in row_runs.items():
            is_resident = number in from_asv or (is_asv_row and run.point is None)
            runs.add(self._resident[number] if is_resident else number, run)
        if unusable:
            message = f"{unusable} of {row.count} results are not finite numbers"
            self._problem(path, f"{name}: {message}; they count as failed")

    def _layout(self, name: str, row: Row) -> list[int]:
        """Return today's case at each index of a row, -1 if the suites have none."""
        key = (name, row.params)
        if key not in self._layouts:
            combinations = itertools.product(*row.params)
            self._layouts[key] = [self._numbers.get((name, params), -1) for params in combinations]
        return self._layouts[key]


def _plain_numbers(
    columns: Sequence[list[Any]],
) -> tuple[list[float], list[float], list[float]] | None:
    """Return the numbers of entries, or ``None`` if not all are plain.

    Plain entries have finite values, which are floats, and all or none of them an interval.
    """
    values, lows, highs = columns
    if set(map(type, values)) != {float} or not math.isfinite(sum(values)):
        return None
    if lows.count(None) == highs.count(None) == len(values):
        lows = highs = [math.nan] * len(values)
    elif (
        set(map(type, lows + highs)) != {float}
        or not math.isfinite(sum(lows) + sum(highs))
        or not all(map(operator.le, lows, highs))
    ):
        return None
    return values, lows, highs


def runs_of_row(
    columns: Sequence[Sequence[Any]],
    started_at: int | None,
    cases: Iterable[Comparison | None],
    recipe: str,
) -> Iterator[Run | None]:
    """Yield the run of each case of a row.

    It is ``None`` if the case's entry is neither a finite number nor missing.

    Args:
        columns: The entries of all cases in the column ``result`` and in `SPREAD_COLUMNS`.
        started_at: When the benchmark started, seconds since the epoch.
        cases: The record of each case, if there is one.
        recipe: How the benchmark was sampled.
    """
    for value, lower, upper, case in zip(*columns, cases, strict=True):
        if type(value) in NUMBERS and -LARGEST <= value <= LARGEST:
            interval = None
            if (
                type(lower) in NUMBERS
                and type(upper) in NUMBERS
                and -LARGEST <= lower <= upper <= LARGEST
                # The spread of a single round is not an interval, and a single sample has none.
                and not (case and len(case.rounds) == 1)
            ):
                interval = float(lower), float(upper)
            measured_at = started_at if case is None else case.at
            yield Run(_OK, Point(float(value), interval), "", measured_at, recipe)
        elif value is None and case is None:
            yield Run(Outcome.FAILED, None, "no value was stored, and no reason", started_at)
        elif is_missing(value):
            yield NEVER_RUN if case is None else _from_record(case)
        else:
            yield None


def _from_record(case: Comparison) -> Run:
    value, version = case.value(0), case.benchmark_version
    if value is not None and version:
        return Run(_OK, Point(value), "", case.at, sys.intern(recipe_of(version)))
    outcome, reason = case.outcome(0)
    if outcome in {Outcome.OK, Outcome.NEVER_RUN}:
        return NEVER_RUN  # its value was removed, such as by `asv rm`: the next run stores it
    return Run(outcome, None, reason, case.at)
