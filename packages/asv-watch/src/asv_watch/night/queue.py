"""The tasks of a night in order of urgency, derived from git, results and releases.

A source is a function from `Situation` to tasks; `asv_watch.night.tasks` lists the
kinds of tasks and the sources. `next_task` leaves out what is done, was tried tonight, or is set
aside because it failed on too many nights.
"""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from asv_watch.asv.selection import SHORT, Selection
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.asv.steps import Levels
from asv_watch.bench import Tally
from asv_watch.comparison import Comparison
from asv_watch.engine.cases import Measures, choose_cases
from asv_watch.engine.coverage import Coverage, ReferenceCoverage, selected_cases
from asv_watch.engine.workplace import Workplace
from asv_watch.errors import WatchError
from asv_watch.judge.changes import Change
from asv_watch.judge.findings import Findings, analyse
from asv_watch.night.attempts import Attempts
from asv_watch.night.suspects import Suspects, find_suspects
from asv_watch.records.history import History
from asv_watch.records.suite_lists import read_machine_list
from asv_watch.versions.commits import Commit
from asv_watch.versions.git import ask_git, find_commit
from asv_watch.versions.version import Version

_FAILURES_TO_STOP = 2
"""After so many commits that fail for the same reason, older ones are not tried."""


@dataclass(frozen=True)
class Situation:
    """The stored results when the next task is chosen; read again after each task."""

    workplace: Workplace
    """The checkout, with this night's environments, the newest release first."""
    selection: Selection
    """Cases that count."""
    attempts: Attempts
    commits: tuple[Commit, ...]
    """Commits of the branch that can change a measured value, oldest first."""
    history: History | None
    """This machine's results of all commits of the branch; ``None`` before the first."""
    reference: Version | None = None
    """Version that commits are measured against; ``None`` if asv.conf.json names no usable one."""
    part: tuple[int, int] = (1, 1)
    """The part of the commits that this night works on, from 1, and the number of parts."""
    levels: Levels = dataclasses.field(default_factory=Levels)
    """Levels of series that were found tonight."""

    @cached_property
    def with_night_cases(self) -> Situation | None:
        """The same with the cases that are measured at night alone; ``None`` if there are none.

        Cases that were asked for leave no others.
        """
        pattern = self.workplace.declared.night_cases
        if not pattern or self.selection != SHORT:
            return None
        return dataclasses.replace(self, selection=Selection(pattern))

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Comparisons that this machine stored, oldest first."""
        return self.history.comparisons.get(self.workplace.machine, ()) if self.history else ()

    @cached_property
    def coverage(self) -> Coverage:
        """Which commits have each case that counts."""
        results = self.workplace.configuration.results
        return Coverage(results, self.history, self.workplace.machine, self.selection)

    @cached_property
    def references(self) -> ReferenceCoverage | None:
        """Which commits are measured completely against the reference.

        ``None`` if there is no reference, or if no selected case is timed: the reference joins
        times alone.
        """
        if self.reference is None or not self._names_of("time"):
            return None
        return ReferenceCoverage(self.comparisons, self.reference, self.selected_cases)

    @cached_property
    def selected_cases(self) -> set[str]:
        """Names of all cases that count, whatever they measure."""
        results, machine = self.workplace.configuration.results, self.workplace.machine
        return selected_cases(results, machine, self.selection)

    @cached_property
    def measurable_cases(self) -> frozenset[str]:
        """Names of the cases of time and peak memory that count and can run here."""
        return self._names_of("time", "memory")

    def _names_of(self, *wanted: Measures) -> frozenset[str]:
        results, machine = self.workplace.configuration.results, self.workplace.machine
        listed, declared = read_machine_list(results, machine), self.workplace.declared
        cases = choose_cases(
            list(listed.values()), self.selection, declared, *wanted, needed=False
        )
        return frozenset(case.name for case in cases)

    def compared_cases(self, commit: str, environment: EnvironmentSpec) -> set[str]:
        """Return the cases in which a commit was compared with another one of the branch.

        Comparisons with the reference, which may be newer, do not count.
        """
        cases: set[str] = set()
        for comparison in self.comparisons:
            before, after = comparison.sitting.versions[0], comparison.sitting.versions[-1]
            if not after.commit == commit != before.commit:
                continue
            same_release = before.release == after.release == environment.release
            if same_release and comparison.sitting.kind != "reference":
                cases.add(comparison.case)
        return cases

    def measured_before(self, commit: str, environment: EnvironmentSpec) -> str | None:
        """Return the newest measured or compared commit before another, if there is any.

        A commit also counts as measured if a later commit with the same measured code was, such as
        the HEAD of `bench`.
        """
        hashes = self.history.hashes if self.history is not None else {}
        last = next(index for index, other in enumerate(self.commits) if other.hash == commit)
        for earlier, later in reversed(list(itertools.pairwise(self.commits[: last + 1]))):
            same_code = (hashes.get(n, "") for n in range(earlier.position, later.position))
            if any(self._is_measured(same, environment) for same in same_code):
                return earlier.hash
        return None

    def _is_measured(self, commit: str, environment: EnvironmentSpec) -> bool:
        return self.coverage.is_complete(commit, environment.stored_as) or (
            self.compared_cases(commit, environment) >= self.measurable_cases
        )

    @cached_property
    def findings(self) -> Findings | None:
        """The findings about the results; ``None`` before the first."""
        return None if self.history is None else analyse(self.history, self.levels)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Changes of the cases that count, the newest commit first."""
        return self._selected_changes(self.findings.changes) if self.findings else ()

    def _selected_changes(self, changes: Iterable[Change]) -> tuple[Change, ...]:
        series = self.history.series if self.history else ()
        return tuple(
            change for change in changes if self.selection.matches(series[change.series].case.name)
        )

    @cached_property
    def suspects(self) -> list[Suspects]:
        """Changes of this machine whose commits are to be compared, the newest commits first."""
        if self.history is None or self.findings is None:
            return []
        unsure = *self.changes, *self._selected_changes(self.findings.near)
        return find_suspects(self.history, unsure, self.workplace.machine)

    def reachable(self, environment: EnvironmentSpec) -> tuple[Commit, ...]:
        """Return the commits that a night tries, oldest first.

        Where the two oldest commits that were tried, or more, failed for the same reason, those
        before them would too; the newest of them is tried again on the next nights.
        """
        failed: list[int] = []
        reason = ""
        for position, commit in enumerate(self.commits):
            failures = self.attempts.failures.get(f"{commit.hash} {environment.name}")
            if self.coverage.is_complete(commit.hash, environment.stored_as):
                break
            if failures is not None:
                if failed and failures.reason != reason:
                    break
                failed.append(position)
                reason = failures.reason
        return self.commits[failed[-1] :] if len(failed) >= _FAILURES_TO_STOP else self.commits

    def is_set_aside(self, task: Task) -> bool:
        """Tell whether the task, or every task of its environment, failed on too many nights."""
        environment = task.environment.name if task.environment is not None else ""
        failures = map(self.attempts.failures.get, (task.name, environment))
        return any(failure is not None and failure.set_aside for failure in failures)

    def is_ours(self, task: Task) -> bool:
        """Tell whether a task belongs to this night's part, as all tasks of its commit do."""
        part, parts = self.part
        return zlib.crc32((task.commit or task.name).encode()) % parts == part - 1

    def needs(self, task: Task) -> bool:
        """Tell whether a task is neither done nor set aside."""
        return not (task.is_done(self) or self.is_set_aside(task))


@dataclass(frozen=True, slots=True)
class Task:
    """Something that a night can do within minutes, and continue on the next night."""

    name: str
    """Identifies the task over the nights, in ``attempts.jsonl``."""
    description: str
    """Description for people."""
    reason: str
    """Reason for the task, such as ``newest commit``."""
    environments: tuple[EnvironmentSpec, ...]
    """The environment in which it measures; several if it compares releases."""
    is_done: Callable[[Situation], bool]
    """Whether everything that it measures is stored."""
    run: Callable[[Situation, Tally], str]
    """Does the task, stores each part as soon as it is measured, and counts outcomes and failures.

    It returns why the task is not done, as far as that is known; else an empty text. It raises a
    `WatchError` if it failed as a whole; the night goes on with the next task.
    """

    commit: str = ""
    """Full hash of its commit, whose tasks all belong to one part; empty for other tasks."""
    at_once: tuple[str, ...] = ()
    """Names of the tasks that it does at once; they are not tried again in the same night."""

    @property
    def environment(self) -> EnvironmentSpec | None:
        """The environment of asv that it measures in, which is made if it is missing.

        If that fails, no other task of this environment is tried tonight. ``None`` if the task
        compares releases, whose environments are not asv's.
        """
        return self.environments[0] if len(self.environments) == 1 else None


TaskSource = Callable[[Situation], Iterable[Task]]


def next_task(
    situation: Situation,
    sources: Sequence[TaskSource],
    tried: Collection[str],
    unusable: Collection[str],
) -> Task | None:
    """Return the most urgent task, or ``None`` if there is nothing left to do."""
    return next(
        (
            task
            for source in sources
            for task in source(situation)
            if task.name not in tried
            and situation.is_ours(task)
            and (task.environment is None or task.environment.name not in unusable)
            and situation.needs(task)
        ),
        None,
    )


_LONGEST_NUMBER = 6
"""Largest number of digits of a count; a longer text is the hash of a commit."""


def since(oldest: str, commits: Sequence[Commit], repository: Path) -> tuple[Commit, ...]:
    """Return the commits that are to be measured, oldest first.

    ``oldest`` is a number of commits, the date (such as ``2025-01-31``) or the name (commit, tag
    or branch of the repository) of the oldest; empty for all of them.

    Raises:
        WatchError: ``oldest`` is none of these.
    """
    if (
        oldest.isascii()
        and oldest.isdecimal()
        and int(oldest) > 0
        and len(oldest) <= _LONGEST_NUMBER
    ):
        return tuple(commits[-int(oldest) :])
    if not oldest:
        return tuple(commits)
    try:
        day = datetime.datetime.fromisoformat(oldest).replace(tzinfo=datetime.UTC)
    except ValueError:
        oldest_hash = find_commit(repository, oldest)
        if not oldest_hash:
            raise WatchError(
                f'"oldest_commit" of asv.conf.json is {oldest!r}: give a commit, a date such as '
                "2025-01-31, or how many commits to measure"
            ) from None
        earlier = set(ask_git(repository, "rev-list", f"{oldest_hash}^@").split())
        return tuple(commit for commit in commits if commit.hash not in earlier)
    return tuple(commit for commit in commits if commit.date >= day.timestamp())
