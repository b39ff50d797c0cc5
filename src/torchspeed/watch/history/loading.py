"""The one reader of what asv has stored: a results folder in, a ``History`` out.

A results folder holds ``benchmarks.json`` and a folder for each machine, with
its ``machine.json``, a result file for each commit and environment, beside each
the outcomes of its cases and a record of where they were measured, and the
machine's calibrations. What is sound is loaded; what is damaged becomes a
``Problem`` that names its file; what is sound but not current (an older version
of a benchmark, a commit of another branch) is counted as ``LeftOut``.

How a case went, from the figure stored and what the outcomes say:

========================  =====================================================
stored figure             outcome
========================  =====================================================
a finite number           ok, whatever the outcomes say
``null``                  as the outcomes say, else failed for an unknown reason
``NaN``, or no row        as the outcomes say, else never run
infinite, text, other     failed, with that as the reason, and a ``Problem``
========================  =====================================================
"""

from __future__ import annotations

import gc
import itertools
import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchspeed.errors import TorchspeedError
from torchspeed.watch.history import calibrations as calibration
from torchspeed.watch.history import outcomes
from torchspeed.watch.history import run_records as recorded
from torchspeed.watch.history.benchmark_list import read_benchmarks
from torchspeed.watch.history.calibrations import Calibration, read_calibrations
from torchspeed.watch.history.comparisons import StoredComparison, read_comparisons
from torchspeed.watch.history.history import History
from torchspeed.watch.history.labels import case_labels
from torchspeed.watch.history.notes import read_notes
from torchspeed.watch.history.outcomes import Report, read_outcomes
from torchspeed.watch.history.recipe import code_version, recipe_of
from torchspeed.watch.history.records import (
    NEVER_RUN,
    Benchmark,
    Case,
    Commit,
    Environment,
    LeftOut,
    Machine,
    Outcome,
    Point,
    Problem,
    Record,
    Run,
    Series,
)
from torchspeed.watch.history.reported_value import report_value
from torchspeed.watch.history.result_files import (
    DamagedError,
    ResultFile,
    Row,
    read_json,
    read_result_file,
)
from torchspeed.watch.history.run_records import read_records

_SPREAD_COLUMNS = ("stats_ci_99_a", "stats_ci_99_b", "stats_q_25", "stats_q_75", "samples")
_UNKNOWN_REASON = "no value was stored, and no reason"


def load_history(results_dir: Path, commits: Sequence[Commit]) -> History:
    """Load everything that a results folder says about the commits of a branch.

    Args:
        results_dir: asv's results folder.
        commits: The branch, oldest first, as ``git.read_commits`` gives it.

    Returns:
        Its history, with the commits that have results or tags. There is a series
        for every case of ``benchmarks.json`` on every machine and environment that
        has a result file, even if that case never ran there.

    Raises:
        TorchspeedError: The folder or its ``benchmarks.json`` is missing or unusable.
    """
    if not results_dir.is_dir():
        raise TorchspeedError(
            f"{results_dir} is no folder: give asv's results folder, or measure with `asv run`"
        )
    with _no_cycle_collection():
        return _Loader(results_dir, commits).load()


@contextmanager
def _no_cycle_collection() -> Iterator[None]:
    """Hold Python's cycle collector: a million small records hold no cycles.

    It would walk all of them again and again, a third of the loading time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the rows of one result file go."""

    path: Path
    commit: str
    reports: dict[str, Report]
    runs: list[dict[str, Run]]
    """For each case, commit hash to run, on this machine in this environment."""


class _Loader:
    """Collects the parts of a history while the files go by."""

    def __init__(self, results_dir: Path, commits: Sequence[Commit]) -> None:
        self._results_dir = results_dir
        self._commits = commits
        self._order = {commit.hash: position for position, commit in enumerate(commits)}
        self._benchmarks, self._problems = read_benchmarks(results_dir)
        self._cases = [case for b in self._benchmarks.values() for case in _cases(b)]
        self._cases_of: dict[str, list[int]] = {name: [] for name in self._benchmarks}
        for number, case in enumerate(self._cases):
            self._cases_of[case.benchmark].append(number)
        self._layouts: dict[tuple[str, tuple[tuple[str, ...], ...]], list[int | None]] = {}
        self._machines: dict[str, Machine] = {}
        self._environments: dict[str, tuple[int, Environment]] = {}
        self._runs: dict[tuple[str, str], list[dict[str, Run]]] = {}
        self._measured: dict[tuple[str, str], dict[str, str]] = {}
        self._facts: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
        self._recorded: dict[tuple[str, str], dict[str, tuple[Record, ...]]] = {}
        self._same_facts: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
        self._left_out: Counter[tuple[str, str]] = Counter()
        self._calibrations: dict[str, Calibration] = {}
        comparisons, damaged = read_comparisons(results_dir)
        self._problems += damaged
        self._comparisons: dict[str, tuple[StoredComparison, ...]] = {}
        for comparison in comparisons:
            machine = comparison.header.machine
            self._comparisons[machine] = (*self._comparisons.get(machine, ()), comparison)
        self._notes, problems = read_notes(results_dir, commits)
        self._problems += problems
        for commit in self._notes.unplaced:
            self._left_out[commit, "notes.toml names it; it is no commit of the branch"] += 1

    def load(self) -> History:
        for folder in sorted(self._results_dir.iterdir()):
            if folder.is_dir() and not folder.name.startswith("."):
                self._load_machine(folder)
            elif not folder.exists():
                self._problem(folder, "it is a link that leads nowhere; it was left out")
        measured = set(itertools.chain.from_iterable(self._measured.values()))
        return History(
            commits=tuple(c for c in self._commits if c.hash in measured or c.tags),
            machines=self._machines,
            environments={name: env for name, (_, env) in sorted(self._environments.items())},
            benchmarks=self._benchmarks,
            series=tuple(self._series()),
            problems=tuple(self._problems),
            left_out=tuple(
                LeftOut(name, reason, count) for (name, reason), count in self._left_out.items()
            ),
            facts={
                place: {commit: facts[commit] for commit in self._in_order(facts)}
                for place, facts in self._facts.items()
            },
            recorded={
                place: {commit: records[commit] for commit in self._in_order(records)}
                for place, records in self._recorded.items()
            },
            calibrations=self._calibrations,
            notes=self._notes,
            positions=self._order,
            comparisons=self._comparisons,
        )

    def _in_order(self, commits: dict[str, Any]) -> list[str]:
        return sorted(commits, key=self._order.__getitem__)

    def _problem(self, path: Path, message: str) -> None:
        self._problems.append(Problem(str(path), message))

    def _series(self) -> Iterator[Series]:
        for (machine, environment), measured in self._measured.items():
            in_order = self._in_order(measured)
            for case, runs in zip(self._cases, self._runs[machine, environment], strict=True):
                benchmark = self._benchmarks[case.benchmark]
                yield Series(
                    machine=machine,
                    environment=environment,
                    case=case,
                    unit=benchmark.unit,
                    higher_is_better=benchmark.higher_is_better,
                    runs={commit: runs.get(commit, NEVER_RUN) for commit in in_order},
                )

    def _load_machine(self, folder: Path) -> None:
        try:
            files = sorted(folder.iterdir())
        except OSError as error:
            self._problem(folder, f"it cannot be read: {error.strerror}")
            return
        result_files = [f for f in files if f.suffix == ".json" and f.name != "machine.json"]
        sidecars = {f.name for f in files if f.name.endswith((outcomes.SUFFIX, recorded.SUFFIX))}
        machine_file = folder / "machine.json"
        if not result_files and not sidecars and not machine_file.exists():
            return
        machine = self._read_machine(machine_file)
        self._machines[machine.name] = machine
        if any(file.name == calibration.FILE_NAME for file in files):
            calibrations, damage = read_calibrations(folder / calibration.FILE_NAME)
            self._problems.extend(damage)
            if calibrations:
                self._calibrations[machine.name] = calibrations[-1]
        for path in result_files:
            reports: dict[str, Report] = {}
            sidecar = path.with_suffix(outcomes.SUFFIX)
            if sidecar.name in sidecars:
                sidecars.discard(sidecar.name)
                reports, problems = read_outcomes(sidecar)
                self._problems.extend(problems)
            records: tuple[Record, ...] = ()
            sidecar = path.with_suffix(recorded.SUFFIX)
            if sidecar.name in sidecars:
                sidecars.discard(sidecar.name)
                records, problems = read_records(sidecar)
                self._problems.extend(problems)
            try:
                content = read_result_file(path)
            except DamagedError as error:
                self._problem(path, f"{error}; its results are left out")
                continue
            if content.machine != machine.name:
                self._problem(
                    path,
                    f"it is of machine {content.machine!r}, not of {machine.name!r}; "
                    "its results are left out",
                )
                continue
            self._load_file(path, content, reports, records)
        for name in sorted(sidecars):
            self._problem(
                folder / name, "the result file that it belongs to is missing; it was left out"
            )

    def _read_machine(self, path: Path) -> Machine:
        try:
            content, _ = read_json(path)
            if not isinstance(content, dict) or not isinstance(content.get("machine"), str):
                raise DamagedError("it names no machine")
        except DamagedError as error:
            self._problem(path, f"{error}; the folder's name stands for the machine's")
            return Machine(path.parent.name)
        name = content.pop("machine")
        content.pop("version", None)
        return Machine(name, {key: str(value) for key, value in content.items()})

    def _load_file(
        self,
        path: Path,
        content: ResultFile,
        reports: dict[str, Report],
        records: tuple[Record, ...],
    ) -> None:
        commit = content.commit
        if commit not in self._order:
            self._left_out[commit, "the commit is not on the branch"] += 1
            return
        environment = path.stem.partition("-")[2] or path.stem
        place = (content.machine, environment)
        measured = self._measured.setdefault(place, {})
        if commit in measured:
            self._problem(
                path, f"it repeats {measured[commit]}, of the same commit and environment"
            )
            return
        measured[commit] = path.name
        self._note_environment(environment, content)
        self._facts.setdefault(place, {})[commit] = self._shared(_facts(content))
        if records:
            self._recorded.setdefault(place, {})[commit] = records
        runs = self._runs.setdefault(place, [{} for _ in self._cases])
        here = _Place(path, commit, reports, runs)
        outdated = self._load_rows(here, content)
        if reports:
            self._load_reports(here, outdated)

    def _note_environment(self, name: str, content: ResultFile) -> None:
        """Keep what the newest commit's file says of an environment."""
        position = self._order[content.commit]
        known = self._environments.get(name)
        if known is None or known[0] < position:
            self._environments[name] = (
                position,
                Environment(name, content.python, content.requirements, content.variables),
            )

    def _shared(self, facts: dict[str, str]) -> dict[str, str]:
        """The same object for the same facts: they seldom change between commits."""
        return self._same_facts.setdefault(tuple(sorted(facts.items())), facts)

    def _load_rows(self, place: _Place, content: ResultFile) -> set[str]:
        """Load every row of a file; return the benchmarks whose row is not current."""
        outdated = set()
        for name in content.rows:
            benchmark = self._benchmarks.get(name)
            if benchmark is None:
                self._left_out[name, "no suite has this benchmark any more"] += 1
                continue
            try:
                row = content.row(name)
                if row.version is not None and code_version(row.version) != benchmark.code_version:
                    outdated.add(name)
                    self._left_out[name, "measured with other code of the benchmark"] += 1
                else:
                    self._load_row(place, name, row)
            except DamagedError as error:
                self._problem(place.path, f"{name}: {error}; its results are left out")
        return outdated

    def _layout(self, name: str, row: Row) -> list[int | None]:
        """The case of today's suites at each place of a row, ``None`` where there is none."""
        key = (name, row.params)
        layout = self._layouts.get(key)
        if layout is None:
            current = {self._cases[i].params: i for i in self._cases_of[name]}
            layout = [current.get(params) for params in itertools.product(*row.params)]
            self._layouts[key] = layout
        return layout

    def _load_row(self, place: _Place, name: str, row: Row) -> None:
        figures, *spreads = self._columns(place, name, row)
        started_at = row.started_at
        reports, commit = place.reports, place.commit
        recipe = self._recipe(name, row, commit)
        unusable = 0
        for number, *stored in zip(self._layout(name, row), figures, *spreads, strict=True):
            if number is None:
                if _finite(stored[0]) is not None:
                    self._left_out[name, "no suite has this combination of parameters"] += 1
                continue
            report = reports.get(self._cases[number].name) if reports else None
            run = _run(stored, started_at, report, recipe)
            if run is None:
                unusable += 1
                reason = f"it gave no finite number: {stored[0]!r}"
                run = Run(Outcome.FAILED, None, reason, started_at)
            if run is not NEVER_RUN:
                place.runs[number][commit] = run
        if unusable:
            self._problem(
                place.path,
                f"{name}: {unusable} of {row.count} results are no finite numbers; "
                "they count as failed",
            )

    def _recipe(self, benchmark: str, row: Row, commit: str) -> str:
        """How a row was sampled: as it records itself, or as a note declares."""
        recipe = recipe_of(row.version or "")
        if not recipe:
            note = self._notes.recipe(benchmark, self._order[commit])
            recipe = note.recipe if note else ""
        return sys.intern(recipe)

    def _columns(self, place: _Place, name: str, row: Row) -> list[list[Any]]:
        """The figures of a row and what describes their spread, an entry for each case."""
        nothing: list[Any] = [None] * row.count
        columns = [row.column("result") or nothing]
        for column in _SPREAD_COLUMNS:
            try:
                columns.append(row.column(column) or nothing)
            except DamagedError as error:
                self._problem(place.path, f"{name}: {error}; its figures are shown without")
                columns.append(nothing)
        return columns

    def _load_reports(self, place: _Place, outdated: set[str]) -> None:
        """Let the outcomes speak for cases of which the result file has no row."""
        for number, case in enumerate(self._cases):
            report = place.reports.get(case.name)
            if (
                report is not None
                and place.commit not in place.runs[number]
                and case.benchmark not in outdated
            ):
                place.runs[number][place.commit] = _without_value(report)


def _cases(benchmark: Benchmark) -> list[Case]:
    return [
        Case(benchmark.name, params, case_labels(benchmark, params))
        for params in itertools.product(*benchmark.params)
    ]


def _facts(content: ResultFile) -> dict[str, str]:
    return {
        **content.machine_facts,
        "python": content.python,
        **{f"requirement {name}": value for name, value in content.requirements.items()},
        **{f"variable {name}": value for name, value in content.variables.items()},
    }


def _run(
    stored: list[Any], started_at: int | None, report: Report | None, recipe: str
) -> Run | None:
    """What became of a case; ``None`` if what is stored is neither a value nor its absence.

    Args:
        stored: Its entries in the columns ``result`` and ``_SPREAD_COLUMNS``.
        started_at: When its benchmark started, seconds since the epoch.
        report: What the outcomes say of it.
        recipe: How its benchmark was sampled.
    """
    figure, lower, upper, q_25, q_75, samples = stored
    if figure is None:
        if report is None:
            return Run(Outcome.FAILED, None, _UNKNOWN_REASON, started_at)
        return _without_value(report)
    if type(figure) is float and math.isnan(figure):
        return NEVER_RUN if report is None else _without_value(report)
    value = _finite(figure)
    if value is None:
        return None
    point = _point(
        value, _pair(lower, upper), _pair(q_25, q_75), _finite_samples(samples), started_at
    )
    at = started_at if report is None or report.at is None else report.at
    return Run(Outcome.OK, point, "", at, recipe)


def _point(
    median: float,
    interval: tuple[float, float] | None,
    quartiles: tuple[float, float] | None,
    samples: tuple[float, ...],
    started_at: int | None,
) -> Point:
    """The reported value of the samples where there are any, else what asv says of them."""
    if not samples:
        return Point(median, interval, quartiles, (), started_at)
    found = report_value(samples)
    return Point(found.value, found.interval, found.quartiles, samples, started_at)


def _without_value(report: Report) -> Run:
    """What a report means where no value is stored."""
    if report.outcome is Outcome.OK:
        return Run(Outcome.FAILED, None, "it ran, but its value was not stored", report.at)
    if report.outcome is Outcome.NEVER_RUN:
        return NEVER_RUN
    return Run(report.outcome, None, report.reason, report.at)


def _finite(figure: Any) -> float | None:
    if type(figure) is float:
        return figure if math.isfinite(figure) else None
    if isinstance(figure, bool) or not isinstance(figure, int):
        return None
    try:
        return float(figure)
    except OverflowError:
        return None


def _pair(lower: Any, upper: Any) -> tuple[float, float] | None:
    """An interval, if both ends are finite numbers in order (a single sample has none)."""
    low, high = _finite(lower), _finite(upper)
    return None if low is None or high is None or low > high else (low, high)


def _finite_samples(samples: Any) -> tuple[float, ...]:
    """The samples, or none at all if any is no finite number."""
    if not samples:
        return ()
    try:
        # One pass in C: the sum of anything infinite or NaN is not finite.
        return tuple(samples) if math.isfinite(sum(samples)) else ()
    except TypeError:
        return ()
