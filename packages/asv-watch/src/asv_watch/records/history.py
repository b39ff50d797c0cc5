"""Everything that a results folder says about the commits of a branch, and how it is loaded.

``docs/storing.md`` describes the files of a results folder. A case of a commit is read from the
record, or from asv's file if the record lacks it. Damaged data becomes a ``Problem`` that names
its file; valid data that is not current (an older version of a benchmark, a commit of another
branch) counts as ``LeftOut``.

The engine measures peak **private** memory, without mapped files. asv stores the peak **resident**
memory, which includes them. So in a series with any private memory, asv's values are left out.
"""

from __future__ import annotations

import dataclasses
import glob
import itertools
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from asv.results import Results

from asv_watch.comparison import NEVER_RUN, Comparison, Conditions, Outcome, Run, Sitting
from asv_watch.files import read_regular
from asv_watch.records import asv_files, store
from asv_watch.records.labels import UNDECLARED, Layout
from asv_watch.records.notes import Notes, read_notes
from asv_watch.records.records import (
    NOT_FORKED,
    PROCESSES,
    Benchmark,
    Case,
    Environment,
    LeftOut,
    Machine,
    Problem,
    case_name,
    code_version,
    recipe_of,
)
from asv_watch.statistics.ratio import Floats, Indices
from asv_watch.versions.version import Commit, VersionKey

NOT_ON_BRANCH = "the commit is not on the branch"
COMPARED_ELSEWHERE = "comparisons of a commit that is not on the branch"
_VERSION = re.compile(r"v?\d+(\.\d+)+\w*")
Setup = tuple[str, str]
"""Names of a machine and an environment."""


class Measured(msgspec.Struct, frozen=True):
    """What one machine measured of a commit in one environment."""

    facts: dict[str, str] = {}
    """Facts of the machine, ``requirement <name>`` and ``variable <name>``."""
    conditions: tuple[tuple[int, Conditions], ...] = ()
    """When its runs began, oldest first, and the conditions that they recorded, if any."""


@dataclass(frozen=True, eq=False)
class Series:
    """All runs of one case on one machine in one environment, by commit."""

    machine: str
    environment: str
    case: Case
    unit: str
    higher_is_better: bool
    indices: Indices
    """Index of the commit of each run in the history."""
    runs: Sequence[Run]
    """Its runs apart from `NEVER_RUN`, oldest first."""

    @property
    def setup(self) -> Setup:
        """Its machine and environment."""
        return self.machine, self.environment

    @cached_property
    def values(self) -> Floats:
        """Value of each run, in ``unit``; NaN for a run without one."""
        return np.array([run.value for run in self.runs], np.float64)

    @cached_property
    def valued(self) -> Series:
        """The series of the runs that have a value."""
        return self.part(np.flatnonzero(~np.isnan(self.values)))

    def part(self, rows: Indices) -> Series:
        """Return the series of some of its runs."""
        runs = [self.runs[row] for row in rows.tolist()]
        return dataclasses.replace(self, indices=self.indices[rows], runs=runs)

    @property
    def last(self) -> Run:
        """The newest run apart from `NEVER_RUN`, or `NEVER_RUN` if there is none."""
        return self.runs[-1] if self.runs else NEVER_RUN


@dataclass(frozen=True)
class History:
    """Everything that the tracked results say."""

    commits: tuple[Commit, ...] = ()
    """Oldest first, along the tracked branch: those with results, those that were compared with
    others, and the tagged ones."""
    machines: dict[str, Machine] = field(default_factory=dict)
    environments: dict[str, Environment] = field(default_factory=dict)
    benchmarks: dict[str, Benchmark] = field(default_factory=dict)
    series: tuple[Series, ...] = ()
    problems: tuple[Problem, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    setups: dict[Setup, dict[str, Measured]] = field(default_factory=dict)
    """Maps machine and environment, then a commit hash, oldest first, to what was measured."""
    notes: Notes = field(default_factory=Notes)
    positions: dict[str, int] = field(default_factory=dict)
    """Maps each commit hash of the branch to the number of commits before it."""
    comparisons: dict[str, tuple[Comparison, ...]] = field(default_factory=dict)
    """Maps a machine to its interleaved comparisons, oldest first."""
    explanations: dict[str, tuple[store.StoredExplanation, ...]] = field(default_factory=dict)
    """Maps a machine to its explanations of differences, oldest first."""
    layout: Layout = UNDECLARED

    @cached_property
    def order(self) -> dict[str, int]:
        """Maps a commit hash to its index in `commits`."""
        return {commit.hash: index for index, commit in enumerate(self.commits)}

    @cached_property
    def hashes(self) -> dict[int, str]:
        """Maps a position along the branch to the hash of its commit."""
        return {position: commit for commit, position in self.positions.items()}

    @cached_property
    def versions(self) -> dict[str, str]:
        """Maps a commit hash to the version of the package that its tag names."""
        return {
            commit.hash: tag
            for commit in self.commits
            for tag in commit.tags
            if _VERSION.fullmatch(tag)
        }

    def runs(self, series: Series) -> dict[str, Run]:
        """Map each commit of the setup of a series, oldest first, to its run or `NEVER_RUN`."""
        runs = dict.fromkeys(self.setups[series.setup], NEVER_RUN)
        for index, run in zip(series.indices.tolist(), series.runs, strict=True):
            runs[self.commits[index].hash] = run
        return runs


def load_history(
    results_dir: Path,
    commits: Sequence[Commit],
    machine: str = "",
    benchmarks: dict[str, Benchmark] | None = None,
    layout: Layout = UNDECLARED,
) -> History:
    """Load everything that a results folder says about the commits of a branch, oldest first.

    If ``machine`` is empty, the results of all machines are loaded. By default the benchmarks are
    those of ``benchmarks.json``.

    Returns:
        Its history, with the commits that have results or tags. There is a series
        for each case of ``benchmarks.json`` on each machine and environment that
        has a result file, even if that case never ran there.

    Raises:
        WatchError: It has no list of benchmarks that can be read.
    """
    problems: list[Problem] = []
    if benchmarks is None:
        benchmarks, problems = asv_files.read_benchmarks(results_dir)
    measured, damaged = store.read_record(results_dir, machine, benchmarks)
    notes, unreadable = read_notes(results_dir, commits)
    named = list(commits)
    for version, position in notes.versions.items():
        if version not in (tags := named[position].tags):
            named[position] = msgspec.structs.replace(named[position], tags=(*tags, version))
    comparisons: dict[str, list[Comparison]] = defaultdict(list)
    for each in measured:
        if len(each.sitting.versions) > 1:
            comparisons[each.sitting.machine].append(each)
    history = History(
        commits=tuple(named),
        # Such as the old name of a renamed folder; `machine.json` says more, where there is one.
        machines={each.sitting.machine: Machine(each.sitting.machine) for each in measured},
        benchmarks=benchmarks,
        notes=notes,
        positions={commit.hash: position for position, commit in enumerate(commits)},
        comparisons={name: tuple(several) for name, several in comparisons.items()},
        layout=layout,
    )
    loader = _Loader(history, measured, [*problems, *damaged, *unreadable])
    return loader.load(results_dir, glob.escape(machine) or "*")


class _Loader:
    """Adds to a history what the folders of machines say, file by file."""

    def __init__(
        self, history: History, measured: Sequence[Comparison], problems: list[Problem]
    ) -> None:
        self._history, self._problems = history, problems
        cases = (
            Case(benchmark.name, params, history.layout.labels_of(benchmark, params))
            for benchmark in history.benchmarks.values()
            for params in itertools.product(*benchmark.params)
        )
        self._cases = {case.name: case for case in cases}
        self._peak_memory = {
            name
            for name, case in self._cases.items()
            if history.benchmarks[case.benchmark].type == "peakmemory"
        }
        self._compared_memory: dict[tuple[str, VersionKey], dict[str, Run]] = defaultdict(dict)
        """Maps a machine and a version to the peak memory of cases, as it was compared last.

        Runs and comparisons measure it in the same way. Times are not taken over, because the
        level of all times of a machine differs from day to day.
        """
        for each in itertools.chain(*history.comparisons.values()):
            for index, version in enumerate(each.sitting.versions):
                value = each.value(index) if each.case in self._peak_memory else None
                if value is not None:
                    memory = self._compared_memory[each.sitting.machine, version.key]
                    memory[each.case] = Run(Outcome.OK, value)
        self._measured = store.newest_of_runs(measured)
        self._sittings: dict[store.RunKey, dict[int, Sitting]] = defaultdict(dict)
        """Maps a run to its sittings by their start, oldest first."""
        for each in measured:
            if (run := store.run_of(each.sitting)) is not None:
                self._sittings[run][each.sitting.at] = each.sitting
        self._left_out: Counter[tuple[str, str]] = Counter()
        for commit in history.notes.unplaced:
            reason = "notes.toml names it, but it fits no commit of the branch, or several"
            self._left_out[commit, reason] += 1
        self._newest: dict[str, int] = {}
        """Maps an environment to the position of its newest commit."""
        self._setups: dict[Setup, dict[str, Measured]] = {}
        """Maps machine and environment to what was measured, by commit hash."""
        self._runs: dict[tuple[Setup, str], dict[str, Run]] = defaultdict(dict)
        """Maps a setup and a case to its runs, by commit hash."""
        self._resident: dict[tuple[Setup, str], dict[str, Run]] = defaultdict(dict)
        """The same of peak memory as asv stores it, where there is no other run."""
        self._files: dict[store.RunKey, str] = {}
        """Maps a run to the name of asv's file of it."""

    def load(self, results_dir: Path, folders: str) -> History:
        """Load the folders of machines that match a pattern, and return the whole history."""
        history = self._history
        for folder in sorted(results_dir.glob(folders)):
            if folder.is_dir() and not folder.name.startswith("."):
                self._load_machine(folder)
            elif not folder.exists():
                self._problem(folder, "it is a link that leads nowhere; it was left out")
        for path in sorted(results_dir.glob(".*/machine.json")):
            self._problem(path.parent, "its name begins with a dot, so it is left out; rename it")
        for key in [key for key in self._sittings if key not in self._files]:
            self._add_run(key)
        setups = {
            key: dict(sorted(setup.items(), key=lambda item: history.positions[item[0]]))
            for key, setup in self._setups.items()
        }
        measured = set().union(*setups.values())
        compared = {
            each.sitting.key: {version.commit for version in each.sitting.versions}
            for each in itertools.chain(*history.comparisons.values())
        }
        for commits in compared.values():
            measured |= commits if len(commits) > 1 else set()
            for commit in commits - history.positions.keys():
                self._left_out[commit, COMPARED_ELSEWHERE] += 1
        shown = tuple(c for c in history.commits if c.hash in measured or c.tags)
        index_of = {commit.hash: index for index, commit in enumerate(shown)}
        return dataclasses.replace(
            history,
            commits=shown,
            environments=dict(sorted(history.environments.items())),
            series=tuple(
                self._series(setup, case, index_of)
                for setup in setups
                for case in self._cases.values()
            ),
            problems=tuple(self._problems),
            left_out=tuple(LeftOut(*key, count) for key, count in self._left_out.items()),
            setups=setups,
        )

    def _problem(self, path: Path, message: str) -> None:
        self._problems.append(Problem(str(path), message))

    def _series(self, setup: Setup, case: Case, index_of: Mapping[str, int]) -> Series:
        """Return the series of a case, given the index of each commit."""
        runs = self._runs[setup, case.name]
        if all(run.outcome is not Outcome.OK for run in runs.values()):
            runs = runs | self._resident[setup, case.name]
        found = sorted((index_of[commit], run) for commit, run in runs.items())
        benchmark = self._history.benchmarks[case.benchmark]
        return Series(
            *setup,
            case,
            benchmark.unit,
            benchmark.higher_is_better,
            indices=np.array([index for index, _ in found], np.intp),
            runs=[run for _, run in found],
        )

    def _load_machine(self, folder: Path) -> None:
        try:
            files = sorted(folder.iterdir(), key=lambda path: path.name)
        except OSError as error:
            self._problem(folder, f"it cannot be read: {error.strerror}")
            return
        others = {"machine.json", asv_files.SUITE_LIST}
        result_files = [f for f in files if f.suffix == ".json" and f.name not in others]
        machine_file = folder / "machine.json"
        if result_files or machine_file.exists():
            machine = self._read_machine(machine_file)
        elif folder.name in self._history.machines:
            machine = Machine(folder.name)  # asv describes a machine when it measures there
        else:
            return
        self._history.machines[machine.name] = machine
        path = folder / store.EXPLANATIONS
        self._history.explanations[machine.name], damage = store.read_stored(
            path, store.StoredExplanation, "explanation"
        )
        self._problems += damage
        for path in result_files:
            self._load_file(path, machine.name)

    def _read_machine(self, path: Path) -> Machine:
        try:
            content = read_description(path)
        except asv_files.DamagedError as error:
            self._problem(path, f"{error}; the folder's name is used as the machine's")
            return Machine(path.parent.name)
        facts = {key: str(value) for key, value in content.items()}
        facts.pop("version", None)
        return Machine(facts.pop("machine"), facts)

    def _load_file(self, path: Path, machine: str) -> None:
        try:
            stored = asv_files.read_results(path, machine)
        except asv_files.DamagedError as error:
            self._problem(path, f"{error}; its results are left out")
            return
        key = store.RunKey(machine, path.stem.partition("-")[2] or path.stem, stored.commit_hash)
        if key in self._files:
            message = f"{self._files[key]} has the same commit and environment"
            self._problem(path, f"{message}; this file is left out")
            return
        self._files[key] = path.name
        self._add_run(key, stored, path)

    def _add_run(
        self, key: store.RunKey, stored: Results | None = None, path: Path = Path()
    ) -> None:
        """Add what was stored of a commit: by the engine, by asv, or both."""
        if key.commit not in self._history.positions:
            self._left_out[key.commit, NOT_ON_BRANCH] += 1
            return
        sittings = list(self._sittings.get(key, {}).values())
        if stored is not None:
            environment = asv_files.environment_of(stored, key.environment)
            facts = asv_files.machine_facts_of(stored)
        else:
            version, conditions = sittings[-1].versions[-1], sittings[-1].conditions
            assert conditions is not None  # noqa: S101 - it is a run
            environment = Environment(
                key.environment, version.python, version.requirements, conditions.variables
            )
            facts = conditions.machine
        position = self._history.positions[key.commit]
        if self._newest.get(key.environment, -1) < position:
            self._newest[key.environment] = position
            self._history.environments[key.environment] = environment
        described = tuple(
            (sitting.at, msgspec.structs.replace(each, facts={PROCESSES: NOT_FORKED} | each.facts))
            for sitting in sittings
            if (each := sitting.conditions) and each.machine
        )
        setup = key.machine, key.environment
        measured = Measured(facts | environment.facts, described)
        self._setups.setdefault(setup, {})[key.commit] = measured
        version_key = VersionKey(key.commit, environment.release, environment.python)
        compared = self._compared_memory.get((key.machine, version_key), {})
        for case, run in (*compared.items(), *self._runs_of_record(self._measured.get(key, {}))):
            self._runs[setup, case][key.commit] = run
        for benchmark in stored.get_all_result_keys() if stored is not None else ():
            try:
                for case, run in self._runs_of_row(stored, benchmark, path):
                    is_resident = run.outcome is Outcome.OK and case in self._peak_memory
                    if key.commit not in self._runs[setup, case]:
                        runs = self._resident if is_resident else self._runs
                        runs[setup, case][key.commit] = run
            except asv_files.DamagedError as error:
                self._problem(path, f"{benchmark}: {error}; its results are left out")

    def _runs_of_record(self, measured: Mapping[str, Comparison]) -> Iterator[tuple[str, Run]]:
        """Yield name and run of each of today's cases."""
        for name, comparison in measured.items():
            case, version = self._cases.get(name), comparison.benchmark_version
            if case is None:
                continue
            benchmark = self._history.benchmarks[case.benchmark]
            if version and code_version(version) != code_version(benchmark.version):
                continue
            outcome, reason = comparison.outcome(0)
            value = comparison.value(0)
            if value is not None:
                yield name, Run(Outcome.OK, value, recipe=sys.intern(recipe_of(version)))
            elif outcome is not Outcome.NEVER_RUN:
                yield name, Run(outcome, reason=reason)

    def _runs_of_row(self, stored: Results, name: str, path: Path) -> Iterator[tuple[str, Run]]:
        """Yield name and run of each of today's cases in a row of asv's file.

        Raises:
            DamagedError: the row does not have the shape that asv writes.
        """
        benchmark, version = self._history.benchmarks.get(name), stored.benchmark_version[name]
        if benchmark is None:
            self._left_out[name, "no suite has this benchmark any more"] += 1
            return
        if isinstance(version, str) and code_version(version) != code_version(benchmark.version):
            self._left_out[name, "measured with other code of the benchmark"] += 1
            return
        count = unusable = 0
        for params, run in asv_files.runs_of(stored, name):
            case = self._cases.get(case_name(name, params))
            count += 1
            if case is not None:
                unusable += run.reason.startswith(asv_files.NO_NUMBER)
                yield case.name, run
            elif run.outcome is Outcome.OK:
                self._left_out[name, "no suite has this combination of parameters"] += 1
        if unusable:
            message = f"{unusable} of {count} results are not finite numbers"
            self._problem(path, f"{name}: {message}; they count as failed")


def read_description(path: Path) -> dict[str, Any]:
    """Read what describes a machine.

    Raises:
        DamagedError: it cannot be read, is not JSON, or names no machine.
    """
    try:
        content = json.loads(read_regular(path))
    except OSError as error:
        raise asv_files.DamagedError(f"it cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise asv_files.DamagedError(f"it is not JSON: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("machine"), str):
        raise asv_files.DamagedError("it names no machine")
    return content
