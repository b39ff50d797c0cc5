"""Stored measurements: what was measured of one version, or of several that were interleaved.

A measurement of several versions has a file of its own,
``results/<machine>/comparisons/<time>-<kind>-<a>-<b>.jsonl``. What was measured of one version is
in a file beside asv's, which is written from it (`asv_watch.records.side_files`).

The first line is a `Measurement`: the versions, and how they were measured. Each further line is
a `MeasuredCase` and holds what was measured: one number for each version and round, or why there
is none. A line is written when its case is finished, so an interrupted measurement keeps the
finished cases. Ratios, intervals and values are derived here and nowhere else
(`MeasuredCase.between`, `MeasuredCase.value`).

Lines from before 2026-11-26 hold the ratio of each round, not the numbers of both sides, and are
read too. The name does not end in ``.json``, because asv takes such files for
results.
"""

from __future__ import annotations

import contextlib
import datetime
import glob
import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, TypeVar

import msgspec

from asv_watch.errors import WatchError
from asv_watch.records.comparisons import (
    CaseRatio,
    CaseResult,
    CaseValues,
    Clock,
    Measurement,
    StoredComparison,
    Unmeasured,
)
from asv_watch.records.json_lines import UNREADABLE, append_lines, read_lines
from asv_watch.records.records import Benchmark, Outcome, Problem, Time, benchmark_of
from asv_watch.records.suite_lists import read_benchmarks
from asv_watch.statistics.ratio import estimate_ratio
from asv_watch.text.quantities import more_is_better

FOLDER = "comparisons"
Benchmarks = Mapping[str, Benchmark]
"""Benchmarks by name."""
Finite = Annotated[float, msgspec.Meta(gt=-1e300, lt=1e300)]
"""Numbers that can be stored; the quotient of two of them may still be zero or infinite."""
Rounds = tuple[tuple[Finite | None, ...], ...]
"""For each round one number for each version; ``None`` if a version gave none."""


class MeasuredCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One case of a measurement, with the numbers of its versions."""

    case: str
    """asv's name of the case: ``suite.Class.time_x('darnn', 'cpu')``."""
    at: Time
    """When it was finished, seconds since the epoch."""
    unit: str = "seconds"
    rounds: Rounds = ()
    """Numbers in ``unit``; seconds of a call are those of the case's own clock."""
    wall: Rounds = ()
    """Wall-clock seconds of a call, if the case's own clock measures something else."""
    cpu: Rounds = ()
    """CPU seconds of a call, if the case's own clock measures something else."""
    clock: Clock = ""
    """Clock of the ratios. `asv_watch.engine.clocks` chooses it by how often a process waited,
    which is not stored."""
    exact: bool = False
    """Whether every process gives the same value, so that any difference counts."""
    least_spread: float = 0.0
    """Lower bound of its rounds' spread: the median of all cases when it was finished. It is
    stored because later rounds of other cases would change it, and with it the interval by which
    the case was found precise enough."""
    skipped: dict[int, str] = {}
    """Maps the index of a version to the reason why it cannot run here."""
    failed: dict[int, str] = {}
    """Maps the index of a version to what went wrong."""
    late: tuple[int, ...] = ()
    """Indices of the versions that failed because they took too long."""
    higher_is_better: bool = False
    """Whether more of the value is better, as its suite or its unit says."""
    benchmark_version: str = ""
    """Version of its benchmark as asv stores it, in the file of a single version: a value counts
    for this code and recipe alone."""

    def numbers(self, *versions: int) -> list[tuple[float, ...]]:
        """Return the rounds in which all of these versions, by index, gave a number."""
        return _complete(self.rounds, versions)

    def value(self, version: int) -> float | None:
        """Return the value of a version: the median over its rounds, in ``unit``."""
        numbers = self.numbers(version)
        return statistics.median(number for (number,) in numbers) if numbers else None

    def outcome(self, version: int) -> tuple[Outcome, str]:
        """Return the outcome of a version, and why it has no number."""
        if version in self.skipped:
            return Outcome.SKIPPED, self.skipped[version]
        if version in self.failed:
            outcome = Outcome.TIMED_OUT if version in self.late else Outcome.FAILED
            return outcome, self.failed[version]
        return Outcome.OK if self.numbers(version) else Outcome.NEVER_RUN, ""

    def of(self, version: int) -> MeasuredCase:
        """Return what was measured of one version, by index, as if it were the only one."""
        return msgspec.structs.replace(
            self,
            rounds=tuple(_complete(self.rounds, [version])),
            wall=tuple(_complete(self.wall, [version])),
            cpu=tuple(_complete(self.cpu, [version])),
            least_spread=0.0,
            skipped={0: self.skipped[version]} if version in self.skipped else {},
            failed={0: self.failed[version]} if version in self.failed else {},
            late=(0,) if version in self.late else (),
        )

    def between(self, before: int, after: int) -> CaseResult:
        """Return the ratio of two versions, their exact values, or why there is neither.

        Raises:
            ValueError: The numbers are so far apart that they have no ratio.
        """
        rounds = _complete(self._compared_rounds, (before, after))
        if len(rounds) < (1 if self.exact else 2):
            return self._unmeasured(before, after)
        if self.exact or min(map(min, rounds)) <= 0:
            return CaseValues(
                case=self.case,
                at=self.at,
                unit=self.unit,
                exact=self.exact,
                before=rounds[-1][0],
                after=rounds[-1][1],
                higher_is_better=self.higher_is_better,
            )
        ratios = tuple(new / old for old, new in rounds)
        if not all(0 < ratio < math.inf for ratio in ratios):
            raise ValueError("a round has no ratio")
        ratio, interval = estimate_ratio(ratios, self.least_spread)
        old, new = (statistics.median(side_numbers) for side_numbers in zip(*rounds, strict=True))
        return CaseRatio(
            case=self.case,
            at=self.at,
            ratios=ratios,
            ratio=ratio,
            interval=interval,
            before=old,
            after=new,
            unit=self.unit,
            clock=self.clock,
            higher_is_better=self.higher_is_better,
        )

    def with_rounds_of(self, other: MeasuredCase) -> MeasuredCase:
        """Return this case with the rounds of another measurement of its versions added."""
        return msgspec.structs.replace(
            self,
            rounds=self.rounds + other.rounds,
            cpu=(self.cpu or self.rounds) + (other.cpu or other.rounds),
            clock=self.clock or other.clock,
        )

    @property
    def _compared_rounds(self) -> Rounds:
        return self.cpu if self.clock == "process" and self.cpu else self.rounds

    def _unmeasured(self, before: int, after: int) -> Unmeasured:
        for index in (before, after):
            if index in self.failed:
                reason = self.failed[index]
                return Unmeasured(self.case, self.at, failed=reason, failed_before=index == before)
        reasons = [self.skipped[index] for index in (before, after) if index in self.skipped]
        return Unmeasured(self.case, self.at, skipped=next(iter(reasons), "it has too few rounds"))


def _complete(rounds: Rounds, versions: Sequence[int]) -> list[tuple[float, ...]]:
    chosen = ([numbers[version] for version in versions] for numbers in rounds)
    known = (tuple(n for n in numbers if n is not None) for numbers in chosen)
    return [numbers for numbers in known if len(numbers) == len(versions)]


class MeasurementWriter:
    """Writes a measurement case by case.

    The file is created with the first case; each case is written at once, as one line.
    """

    def __init__(self, results: Path, header: Measurement, path: Path | None = None) -> None:
        """Choose the file's name, unless ``path`` names the file of a single version."""
        self._header = [header]
        self.path = path or self._new_file(results, header)
        """File of the measurement."""

    @staticmethod
    def _new_file(results: Path, header: Measurement) -> Path:
        folder = results / header.machine / FOLDER
        begun = datetime.datetime.fromtimestamp(header.at, datetime.UTC)
        versions = f"{header.before.commit[:8]}-{header.after.commit[:8]}"
        name = f"{begun:%Y%m%dT%H%M%S}-{header.kind}-{versions}"
        copies = (folder / f"{name}-{copy}.jsonl" for copy in itertools.count(2))
        names = itertools.chain([folder / f"{name}.jsonl"], copies)
        return next(path for path in names if not path.exists())

    def go_on_with(self, path: Path) -> None:
        """Continue the file of this measurement, which was interrupted."""
        self.path, self._header = path, []

    def add(self, result: MeasuredCase | CaseResult) -> None:
        """Append a finished case and wait until it is on the disk."""
        append_lines(self.path, [*self._header, result])
        self._header = []


def read_comparisons(
    results: Path, machine: str = "", benchmarks: Benchmarks | None = None
) -> tuple[tuple[StoredComparison, ...], tuple[Problem, ...]]:
    """Read the comparisons of a machine, or of all, oldest first.

    Args:
        results: Folder of all machines' results.
        machine: Name of its folder there; all if empty.
        benchmarks: Today's suites; those of the folder's ``benchmarks.json`` if not given.

    Returns:
        The comparisons, and a problem for each file or line that is damaged and left out.
    """
    if benchmarks is None:
        benchmarks = {}
        with contextlib.suppress(WatchError):  # the list is missing or damaged
            benchmarks, _ = read_benchmarks(results)
    comparisons: list[StoredComparison] = []
    problems = []
    for path in sorted(results.glob(f"{glob.escape(machine) or '*'}/{FOLDER}/*.jsonl")):
        in_file, damaged = read_file(path, benchmarks)
        problems += damaged
        comparisons += in_file
    comparisons.sort(key=lambda comparison: (comparison.header.at, comparison.path))
    return tuple(comparisons), tuple(problems)


def read_file(
    path: Path, benchmarks: Benchmarks = MappingProxyType({})
) -> tuple[list[StoredComparison], list[Problem]]:
    """Read one file.

    Args:
        path: The file.
        benchmarks: Today's suites, which say whether more of a value is better.

    Returns:
        A comparison of each version with the one before it, or none where the file or its header
        cannot be read; and a problem for each damaged line, which is left out.
    """
    records, problems = read_lines(path, _decode, "case")
    header = records[0][1] if records and records[0][0] == 1 else None
    if not isinstance(header, Measurement):
        unreadable = [problem for problem in problems if problem.message.startswith(UNREADABLE)]
        message = (
            "line 1 is not the header of a comparison; the file was left out (CHANGELOG.md has a "
            "command that converts those of asv-watch 0.7.0)"
        )
        return [], unreadable or [Problem(str(path), message)]
    count = len(header.versions)
    if count < 2:
        message = "line 1 names a single version, which is no comparison; the file was left out"
        return [], [*problems, Problem(str(path), message)]
    comparisons = []
    for before in range(count - 1):
        results: dict[str, CaseResult] = {}
        for number, record in records:
            if isinstance(record, Measurement):
                continue
            try:
                result = _pair_result(record, before, count)
            except (ValueError, OverflowError) as error:
                damaged = f"line {number} is not a valid case ({error}); it was left out"
                problems.append(Problem(str(path), damaged))
            else:
                results[result.case] = result
        newest = list(results.values())
        comparison = StoredComparison(
            path,
            header.between(before, before + 1),
            tuple(with_direction(r, benchmarks) for r in newest if isinstance(r, CaseRatio)),
            tuple(result for result in newest if isinstance(result, Unmeasured)),
            tuple(with_direction(r, benchmarks) for r in newest if isinstance(r, CaseValues)),
        )
        comparisons.append(comparison)
    return comparisons, problems


def _pair_result(record: MeasuredCase | CaseResult, before: int, versions: int) -> CaseResult:
    if not isinstance(record, MeasuredCase):
        return record
    if any(len(numbers) != versions for numbers in (*record.rounds, *record.cpu)):
        raise ValueError(f"a round does not have {versions} numbers")
    return record.between(before, before + 1)


Result = TypeVar("Result", CaseRatio, CaseValues)


def with_direction(result: Result, benchmarks: Benchmarks) -> Result:
    """Return a result with the direction of today's suites, as the series of its case has it.

    If the suites lack the benchmark, the direction is the stored one, or that of the unit.
    """
    benchmark = benchmarks.get(benchmark_of(result.case))
    better = result.higher_is_better or more_is_better(result.unit)
    if benchmark is not None:
        better = benchmark.higher_is_better
    if better == result.higher_is_better:
        return result
    return msgspec.structs.replace(result, higher_is_better=better)


def read_version(
    path: Path, machine: str = "", commit: str = ""
) -> tuple[dict[str, MeasuredCase], list[Problem]]:
    """Read the newest line of each case in the file of a single version, by name.

    Where branches were merged, the newest line need not be the last one.

    Args:
        path: The file.
        machine: The machine that its headers should name; any if empty.
        commit: The commit that they should name; any if empty.

    Returns:
        The cases, and a problem for each damaged line, which is left out. If a header names
        another machine or commit, there are no cases, and a problem for the file.
    """
    records, problems = read_lines(path, _decode_of_version, "case")
    cases: dict[str, MeasuredCase] = {}
    for number, record in records:
        if isinstance(record, Measurement):
            measured = record.machine, record.after.commit
            wanted = machine or record.machine, commit or record.after.commit
            if measured != wanted:
                message = "line {} names machine {!r} and commit {}, not {!r} and {}"
                in_words = message.format(number, *measured, *wanted)
                return {}, [*problems, Problem(str(path), f"{in_words}; the file was left out")]
        elif record.case not in cases or record.at >= cases[record.case].at:
            cases[record.case] = record
    return cases, problems


def _decode_of_version(line: bytes) -> MeasuredCase | Measurement:
    if b'"kind"' in line:
        header = _MEASUREMENT.decode(line)
        if len(header.versions) != 1:
            raise msgspec.ValidationError("it is a comparison")
        return header
    record = _CASE.decode(line)
    if any(len(numbers) != 1 for numbers in (*record.rounds, *record.wall, *record.cpu)):
        raise msgspec.ValidationError("a round does not have one number")
    return record


def read_cases(path: Path) -> dict[str, MeasuredCase]:
    """Return the finished cases of a file by name; empty for files older than 2026-11-26."""
    records = [record for _, record in read_lines(path, _decode, "case")[0]]
    return {record.case: record for record in records if isinstance(record, MeasuredCase)}


_MEASUREMENT = msgspec.json.Decoder(Measurement)
_CASE = msgspec.json.Decoder(MeasuredCase)
_RATIO = msgspec.json.Decoder(CaseRatio)
_UNMEASURED = msgspec.json.Decoder(Unmeasured)
_VALUES = msgspec.json.Decoder(CaseValues)


def _decode(line: bytes) -> Measurement | MeasuredCase | CaseResult:
    if b'"kind"' in line:
        return _MEASUREMENT.decode(line)
    if b'"ratios"' in line:
        return _RATIO.decode(line)
    if b'"rounds"' in line or b'"skipped":{' in line or b'"failed":{' in line:
        return _CASE.decode(line)
    return _VALUES.decode(line) if b'"unit"' in line else _UNMEASURED.decode(line)
