"""Loads a results folder into a ``History``.

A results folder holds ``benchmarks.json`` and a folder for each machine. That folder holds the
machine's ``machine.json``, its own ``benchmarks.json``, its comparisons, and for each commit and
environment a result file, with what was measured and the records of its runs beside it.
Valid data is loaded; damaged data becomes a ``Problem`` that names its file; valid data that is
not current (an older version of a benchmark, a commit of another branch) counts as ``LeftOut``.
"""

from __future__ import annotations

import glob
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from asv_watch.comparison import Comparison, Outcome
from asv_watch.files import read_regular
from asv_watch.records import explanations, suite_lists
from asv_watch.records.columns import CommitRuns, columns_by_case
from asv_watch.records.explanations import StoredExplanation
from asv_watch.records.history import History, Series
from asv_watch.records.json_lines import read_stored
from asv_watch.records.labels import UNDECLARED, Layout
from asv_watch.records.notes import Notes, read_notes
from asv_watch.records.records import (
    Benchmark,
    Environment,
    LeftOut,
    Machine,
    Point,
    Problem,
    Record,
    Run,
)
from asv_watch.records.result_files import (
    DamagedError,
    read_json,
    read_result_file,
)
from asv_watch.records.side_files import MEASURED, RECORDS, read_measured, read_records
from asv_watch.records.store import read_record
from asv_watch.records.stored_runs import RunReader
from asv_watch.records.suite_lists import read_benchmarks
from asv_watch.versions.commits import Commit
from asv_watch.versions.releases import Release

T = TypeVar("T")

NOT_ON_BRANCH = "the commit is not on the branch"
"""Reason why all results of a commit are left out."""


def load_history(
    results_dir: Path,
    commits: Sequence[Commit],
    machine: str = "",
    benchmarks: dict[str, Benchmark] | None = None,
    layout: Layout = UNDECLARED,
) -> History:
    """Load everything that a results folder says about the commits of a branch.

    Args:
        results_dir: asv's results folder.
        commits: The branch, oldest first, as ``git.read_commits`` gives it.
        machine: The machine whose results are loaded; all if empty.
        benchmarks: By name; those of ``benchmarks.json`` if none are given.
        layout: How the project declares rows and columns.

    Returns:
        Its history, with the commits that have results or tags. There is a series
        for each case of ``benchmarks.json`` on each machine and environment that
        has a result file, even if that case never ran there.

    Raises:
        WatchError: Its ``benchmarks.json`` is missing or unusable.
    """
    problems: list[Problem] = []
    if benchmarks is None:
        benchmarks, problems = read_benchmarks(results_dir)
    return _Loader(results_dir, commits, machine, benchmarks, problems, layout).load()


class _Setup(msgspec.Struct):
    """Results of one machine in one environment, by commit hash."""

    files: dict[str, str] = msgspec.field(default_factory=dict)
    """Names of the result files."""
    facts: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    records: dict[str, tuple[Record, ...]] = msgspec.field(default_factory=dict)
    runs: dict[str, CommitRuns] = msgspec.field(default_factory=dict)


def with_versions(commits: Sequence[Commit], notes: Notes) -> Sequence[Commit]:
    """Return the commits, with the versions that the notes name added to their tags."""
    named = list(commits)
    for version, position in notes.versions.items():
        commit = named[position]
        if version not in commit.tags:
            named[position] = msgspec.structs.replace(commit, tags=(*commit.tags, version))
    return named


class _Loader:
    """Collects the parts of a history, file by file."""

    def __init__(
        self,
        results_dir: Path,
        commits: Sequence[Commit],
        machine: str,
        benchmarks: dict[str, Benchmark],
        problems: list[Problem],
        layout: Layout,
    ) -> None:
        self._results_dir = results_dir
        self._folders = glob.escape(machine) or "*"
        self._commits = commits
        self._order = {commit.hash: position for position, commit in enumerate(commits)}
        self._benchmarks, self._problems = benchmarks, problems
        comparisons, damaged = read_record(results_dir, machine, benchmarks)
        self._comparisons: dict[str, tuple[Comparison, ...]] = {}
        for comparison in comparisons:
            machine = comparison.sitting.machine
            self._comparisons[machine] = (*self._comparisons.get(machine, ()), comparison)
        self._notes, unreadable = read_notes(results_dir, commits)
        self._commits = with_versions(commits, self._notes)
        self._problems += [*damaged, *unreadable]
        self._layout = layout
        self._runs = RunReader(self._benchmarks, layout)
        self._runs.problems = self._problems
        self._left_out = self._runs.left_out
        for commit in self._notes.unplaced:
            reason = "notes.toml names it, but it fits no commit of the branch, or several"
            self._left_out[commit, reason] += 1
        self._machines: dict[str, Machine] = {}
        self._environments: dict[str, tuple[int, Environment]] = {}
        """Maps a name to the position of its newest commit and to what that commit's file says."""
        self._setups: dict[tuple[str, str], _Setup] = {}
        self._explanations: dict[str, tuple[StoredExplanation, ...]] = {}

    def load(self) -> History:
        for folder in sorted(self._results_dir.glob(self._folders)):
            if folder.is_dir() and not folder.name.startswith("."):
                self._load_machine(folder)
            elif not folder.exists():
                self._problem(folder, "it is a link that leads nowhere; it was left out")
        for path in sorted(self._results_dir.glob(".*/machine.json")):
            message = "its name begins with a dot, so it is left out; rename it"
            self._problem(path.parent, message)
        for name in self._comparisons:  # such as the old name of a renamed folder
            self._machines.setdefault(name, Machine(name))
        setups = self._setups.items()
        self._add_compared_memory()
        series = tuple(self._series())
        ran = {case_series.case.benchmark for case_series in series if case_series.columns}
        shown = {
            name: benchmark
            for name, benchmark in self._runs.benchmarks.items()
            if name in self._benchmarks or name in ran
        }
        measured = {commit for setup in self._setups.values() for commit in setup.files}
        measured |= {
            version.commit
            for machine_comparisons in self._comparisons.values()
            for comparison in machine_comparisons
            for version in comparison.sitting.versions
            if len({version.commit for version in comparison.sitting.versions}) > 1
        }
        return History(
            commits=tuple(c for c in self._commits if c.hash in measured or c.tags),
            machines=self._machines,
            environments={name: env for name, (_, env) in sorted(self._environments.items())},
            benchmarks=shown,
            series=tuple(
                case_series for case_series in series if case_series.case.benchmark in shown
            ),
            problems=tuple(self._problems),
            left_out=tuple(LeftOut(*key, count) for key, count in self._left_out.items()),
            facts={key: self._in_order(setup.facts) for key, setup in setups},
            recorded={
                key: self._in_order(setup.records) for key, setup in setups if setup.records
            },
            notes=self._notes,
            positions=self._order,
            comparisons=self._comparisons,
            explanations=self._explanations,
            layout=self._layout,
        )

    def _add_compared_memory(self) -> None:
        """Give commits that have no run of private memory the value of their newest comparison.

        Runs and comparisons measure it in the same way. Times are not taken over, because the
        level of all times of a machine differs from day to day.
        """
        setups: dict[tuple[str, Release, str], list[_Setup]] = defaultdict(list)
        for (machine, name), setup in self._setups.items():
            _, environment = self._environments[name]
            setups[machine, environment.release, environment.python].append(setup)
        for machine, comparisons in self._comparisons.items():
            for comparison in reversed(comparisons):
                number = self._runs.peak_memory.get(comparison.case)
                if number is None:
                    continue
                for index, version in enumerate(comparison.sitting.versions):
                    value = comparison.value(index)
                    for setup in setups[machine, version.release, version.python]:
                        if value is not None and version.commit in setup.runs:
                            run = Run(Outcome.OK, Point(value), at=comparison.at)
                            setup.runs[version.commit].add(number, run)

    def _in_order(self, by_commit: Mapping[str, T]) -> dict[str, T]:
        return dict(sorted(by_commit.items(), key=lambda item: self._order[item[0]]))

    def _problem(self, path: Path, message: str) -> None:
        self._problems.append(Problem(str(path), message))

    def _series(self) -> Iterator[Series]:
        for (machine, environment), setup in self._setups.items():
            columns = columns_by_case(self._in_order(setup.runs), len(self._runs.cases))
            for case, case_columns in zip(self._runs.cases, columns, strict=True):
                benchmark = self._runs.benchmarks[case.benchmark]
                yield Series(
                    machine=machine,
                    environment=environment,
                    case=case,
                    unit=benchmark.unit,
                    higher_is_better=benchmark.higher_is_better,
                    columns=case_columns,
                )

    def _load_machine(self, folder: Path) -> None:
        try:
            files = sorted(folder.iterdir(), key=lambda path: path.name)
        except OSError as error:
            self._problem(folder, f"it cannot be read: {error.strerror}")
            return
        others = {"machine.json", suite_lists.FILE_NAME}
        result_files = [f for f in files if f.suffix == ".json" and f.name not in others]
        sidecars = {file.name: file for file in files if file.name.endswith((MEASURED, RECORDS))}
        machine_file = folder / "machine.json"
        if result_files or sidecars or machine_file.exists():
            machine = self._read_machine(machine_file)
        elif folder.name in self._comparisons:  # asv describes a machine when it measures there
            machine = Machine(folder.name)
        else:
            return
        self._machines[machine.name] = machine
        if folder / suite_lists.FILE_NAME in files:
            self._check_list(folder / suite_lists.FILE_NAME)
        path = folder / explanations.FILE_NAME
        self._explanations[machine.name], damage = read_stored(
            path, StoredExplanation, "explanation"
        )
        self._problems += damage
        for path in result_files:
            self._load_file(path, machine.name, sidecars)
        for path in sidecars.values():
            self._problem(path, "the result file that it belongs to is missing; it was left out")

    def _check_list(self, path: Path) -> None:
        """Report a machine's list of benchmarks if it is damaged; only the union is used."""
        try:
            suite_lists.parse_list(read_regular(path))
        except OSError as error:
            self._problem(path, f"it cannot be read: {error.strerror}")
        except ValueError as error:
            self._problem(path, f"it is damaged ({error}); the machine's next run replaces it")

    def _read_machine(self, path: Path) -> Machine:
        try:
            content = read_json(path, dict[str, Any])
            if not isinstance(content.get("machine"), str):
                raise DamagedError("it names no machine")
        except DamagedError as error:
            self._problem(path, f"{error}; the folder's name is used as the machine's")
            return Machine(path.parent.name)
        facts = {key: str(value) for key, value in content.items()}
        facts.pop("version", None)
        return Machine(facts.pop("machine"), facts)

    def _load_file(self, path: Path, machine: str, sidecars: dict[str, Path]) -> None:
        stem = path.stem
        records = self._read_sidecar(stem + RECORDS, sidecars, read_records)
        record = stem + MEASURED
        environment = stem.partition("-")[2] or stem
        try:
            content = read_result_file(path)
            commit = content.commit_hash
            if content.machine != machine:
                raise DamagedError(f"it names machine {content.machine!r}, not {machine!r}")
        except DamagedError as error:
            self._read_sidecar(record, sidecars, read_measured)
            self._problem(path, f"{error}; its results are left out")
            return
        read = partial(read_measured, machine=machine, commit=commit)
        measured = self._read_sidecar(record, sidecars, read) or {}
        if commit not in self._order:
            self._left_out[commit, NOT_ON_BRANCH] += 1
            return
        setup = self._setups.setdefault((machine, environment), _Setup())
        if commit in setup.files:
            message = f"{setup.files[commit]} has the same commit and environment"
            self._problem(path, f"{message}; this file is left out")
            return
        setup.files[commit] = path.name
        newest = self._environments.get(environment)
        if newest is None or newest[0] < self._order[commit]:
            self._environments[environment] = self._order[commit], content.environment(environment)
        setup.facts[commit] = content.facts
        if records:
            setup.records[commit] = records
        setup.runs[commit] = self._runs.read(path, content, measured)

    def _read_sidecar(
        self,
        name: str,
        sidecars: dict[str, Path],
        read: Callable[[Path], tuple[T, list[Problem]]],
    ) -> T | None:
        path = sidecars.pop(name, None)
        if path is None:
            return None
        content, problems = read(path)
        self._problems += problems
        return content
