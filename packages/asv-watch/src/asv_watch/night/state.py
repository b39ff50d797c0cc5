"""What a night knows when it chooses its next task: commits, results so far, and failures.

Tasks that failed are in ``results/<machine>/attempts.jsonl``, an `Attempt` a line. Failures count
while the suites are the same: other suites may well work.
"""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from asv_watch.asv.selection import SHORT, Selection, cases_of
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.comparison import DAY, Comparison, Outcome, Ratio, Time
from asv_watch.engine.cases import Measures, choose_cases
from asv_watch.engine.workplace import Workplace
from asv_watch.errors import WatchError
from asv_watch.judge.changes import Change, Findings, analyse
from asv_watch.records.asv_files import Entries, read_machine_list
from asv_watch.records.history import History
from asv_watch.records.records import case_name
from asv_watch.records.store import append_lines, read_stored
from asv_watch.releases.measure import ReleasePair, release_pairs
from asv_watch.versions.git import ask_git, find_commit
from asv_watch.versions.version import Commit, Release, Version, VersionKey

ATTEMPTS = "attempts.jsonl"
NIGHTS = 3
"""A task is set aside after failing on so many days."""


class Attempt(msgspec.Struct):
    """A task that failed."""

    task: str
    at: Time
    suites: str
    failed: str
    """The reason."""


class Attempts:
    """What the nights of one machine tried and failed to do, kept in a file."""

    def __init__(self, machine_results: Path, suites: str, clock: Callable[[], float]) -> None:
        """Read the file, if there is one.

        ``suites`` are git's hashes of today's suites and configuration.
        """
        self._path = machine_results / ATTEMPTS
        self._suites = suites
        self._clock = clock
        self.failures: dict[str, list[Attempt]] = {}
        """Maps a task to its failures, the last one at the end."""
        self.tonight: set[str] = set()
        """Names of tasks and environments that are not tried again tonight."""
        # A line cut off by a crash is left out, which gives one task one more night.
        for attempt in read_stored(self._path, Attempt, "attempt")[0]:
            if attempt.suites == suites:
                self.failures.setdefault(attempt.task, []).append(attempt)

    def add_failure(self, task: str, reason: str) -> None:
        """Store that a task failed, or an environment, which is not tried again tonight."""
        self.tonight.add(task)
        attempt = Attempt(task, int(self._clock()), self._suites, reason)
        append_lines(self._path, [attempt])
        self.failures.setdefault(task, []).append(attempt)

    def set_aside(self, *names: str) -> bool:
        """Tell whether any of these failed on so many nights that it is not tried again."""
        days = ({each.at // DAY for each in self.failures.get(name, ())} for name in names)
        return any(len(of_task) >= NIGHTS for of_task in days)


MOST_DAYS = 3
"""A change is not compared again after it was compared on so many days."""
_FAILURES_TO_STOP = 2
"""After so many commits that fail for the same reason, older ones are not tried."""


@dataclass(frozen=True)
class NightState:
    """The stored results when the next task is chosen; read again after each task."""

    workplace: Workplace
    """The checkout, with this night's environments, the newest release first."""
    selection: Selection
    """Cases that count."""
    attempts: Attempts
    commits: tuple[Commit, ...]
    """Commits of the branch that can change a measured value, oldest first."""
    history: History
    """This machine's results of all commits of the branch."""
    began: float
    """When the night began, seconds since the epoch."""
    reference: Version | None = None
    """Version that commits are measured against; ``None`` if asv.conf.json names no usable one."""
    part: tuple[int, int] = (1, 1)
    """The part of the commits that this night works on, from 1, and the number of parts."""

    @cached_property
    def with_night_cases(self) -> NightState | None:
        """The same with the cases that are measured at night alone; ``None`` if there are none.

        Cases that were asked for leave no others.
        """
        pattern = self.workplace.declared.night_cases
        if not pattern or self.selection != SHORT:
            return None
        further = dataclasses.replace(self, selection=Selection(pattern))
        return further if further.selected_cases else None

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Comparisons that this machine stored, oldest first."""
        return self.history.comparisons.get(self.workplace.machine, ())

    @cached_property
    def release_pairs(self) -> dict[str, tuple[ReleasePair, ...]]:
        """Maps a requirement to its neighbouring releases of asv.conf.json, newest first."""
        return {
            requirement: release_pairs(requirement, releases, self.comparisons)
            for requirement, releases in self.workplace.configuration.releases.items()
        }

    @cached_property
    def _finished(self) -> dict[tuple[str, str], dict[str, bool]]:
        """Maps commit and environment to the cases that count, and whether each is finished."""
        finished: defaultdict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
        for series in self.history.series:
            case = series.case.name
            if series.machine == self.workplace.machine and case in self.selected_cases:
                for commit, run in self.history.runs(series).items():
                    is_finished = run.outcome is not Outcome.NEVER_RUN
                    finished[commit, series.environment][case] = is_finished
        return dict(finished)

    def is_complete(self, commit: str, environment: EnvironmentSpec) -> bool:
        """Tell whether each case that counts was measured, skipped, or failed with a reason."""
        cases = self._finished.get((commit, environment.stored_as), {})
        return bool(cases) and all(cases.values())

    def is_begun(self, commit: str, environment: EnvironmentSpec) -> bool:
        """Tell whether any case that counts was measured, skipped, or failed with a reason."""
        return any(self._finished.get((commit, environment.stored_as), {}).values())

    def was_used(self, environment: EnvironmentSpec) -> bool:
        """Tell whether anything was ever measured in an environment."""
        return any(stored == environment.stored_as for _, stored in self._finished)

    @cached_property
    def linked_cases(self) -> dict[tuple[str, Release], set[str]]:
        """Maps commit and release to the cases compared with the reference, or skipped."""
        linked: defaultdict[tuple[str, Release], set[str]] = defaultdict(set)
        for comparison in self.comparisons:
            kind, (first, *_, last) = comparison.sitting.kind, comparison.sitting.versions
            if kind == "reference" and first == self.reference and not comparison.failed:
                linked[last.commit, last.release].add(comparison.case)
        return dict(linked)

    def is_linked(self, commit: str, release: Release) -> bool:
        """Tell whether a commit was compared in every case that counts and that any commit has."""
        if self.reference is not None and (commit, release) == self.reference.key[:2]:
            return True
        cases = self.linked_cases.get((commit, release), set())
        compared = set[str]().union(*self.linked_cases.values())
        return bool(cases) and cases >= compared & self.selected_cases

    @cached_property
    def selected_cases(self) -> set[str]:
        """Names of all cases that count, whatever they measure."""
        return {
            case_name(benchmark["name"], params)
            for benchmark in self._listed.values()
            for params in cases_of(benchmark)
            if self.selection.includes(benchmark, params)
        }

    @cached_property
    def measurable_cases(self) -> dict[str, Measures]:
        """Maps the cases of time and peak memory that count and can run here to their kinds."""
        entries, declared = list(self._listed.values()), self.workplace.declared
        cases = choose_cases(entries, self.selection, declared, "time", "memory", needed=False)
        return {case.name: case.measures for case in cases}

    @cached_property
    def _listed(self) -> Entries:
        return read_machine_list(self.workplace.configuration.results, self.workplace.machine)

    @cached_property
    def compared_cases(self) -> dict[tuple[str, Release], set[str]]:
        """Maps commit and release to the cases compared with another commit of the branch.

        Comparisons with the reference, which may be newer, do not count.
        """
        compared: defaultdict[tuple[str, Release], set[str]] = defaultdict(set)
        for comparison in self.comparisons:
            before, after = comparison.sitting.versions[0], comparison.sitting.versions[-1]
            are_commits = before.release == after.release and before.commit != after.commit
            if are_commits and comparison.sitting.kind != "reference":
                compared[after.commit, after.release].add(comparison.case)
        return dict(compared)

    def is_compared(self, commit: str, environment: EnvironmentSpec) -> bool:
        """Tell whether a commit was compared with another one in each case that counts."""
        cases = self.compared_cases.get((commit, environment.release), set())
        return cases >= self.measurable_cases.keys()

    def measured_before(self, commit: Commit, environment: EnvironmentSpec) -> str | None:
        """Return the newest measured or compared commit before another, if there is any.

        A commit also counts as measured if a later commit with the same measured code was, such as
        the HEAD of `bench`.
        """
        hashes = self.history.hashes
        last = self.commits.index(commit)
        for earlier, later in reversed(list(itertools.pairwise(self.commits[: last + 1]))):
            same_code = (hashes.get(n, "") for n in range(earlier.position, later.position))
            if any(
                self.is_complete(same, environment) or self.is_compared(same, environment)
                for same in same_code
            ):
                return earlier.hash
        return None

    @cached_property
    def findings(self) -> Findings:
        """The findings about the results."""
        return analyse(self.history)

    @cached_property
    def by_release(self) -> dict[Release, EnvironmentSpec]:
        """Maps a release to this night's environment with it."""
        return {each.release: each for each in self.workplace.environments}

    def changes(
        self, changes: Iterable[Change]
    ) -> Iterator[tuple[Change, str, VersionKey, VersionKey]]:
        """Yield each change of this machine that a night can measure, its case and both versions.

        Its case counts, and its release has an environment tonight.
        """
        history = self.history
        for change in changes:
            series = history.series[change.series]
            where, case = history.environments[series.environment], series.case.name
            is_here = series.machine == self.workplace.machine and where.release in self.by_release
            if is_here and self.selection.matches(case):
                hashes = (history.commits[at].hash for at in (change.previous, change.commit))
                before, after = (VersionKey(h, where.release, where.python) for h in hashes)
                yield change, case, before, after

    def _is_due(self, times: Iterable[int]) -> bool:
        """Tell whether versions that were compared then are to be compared once more tonight.

        They are not if that was today (UTC), or on `MOST_DAYS`.
        """
        days = {at // DAY for at in times}
        return len(days) < MOST_DAYS and max(days, default=0) < self.began // DAY

    def needs_second_day(self, ratio: Ratio) -> bool:
        """Tell whether one day alone shows a ratio, and it is due on another one."""
        return ratio.needs_second_day and self._is_due(each.at for each in ratio.sittings)

    def to_compare(
        self, changes: Iterable[Change]
    ) -> Iterator[tuple[EnvironmentSpec, tuple[str, str], list[str]]]:
        """Yield the environment, the two commits and the cases of changes that are due.

        They come in the order of ``changes``. Those that the code cannot have caused are left out
        (`Change.may_be_code`).
        """
        times: defaultdict[tuple[VersionKey, VersionKey, str], list[int]] = defaultdict(list)
        for comparison in self.comparisons:
            for first, last in itertools.combinations(comparison.sitting.versions, 2):
                times[first.key, last.key, comparison.case].append(comparison.at)
        found: defaultdict[tuple[VersionKey, VersionKey], list[str]] = defaultdict(list)
        for change, case, before, after in self.changes(changes):
            if change.may_be_code and self._is_due(times[before, after, case]):
                found[before, after].append(case)
        for (before, after), cases in found.items():
            yield self.by_release[after.release], (before.commit, after.commit), cases

    def reachable(self, environment: EnvironmentSpec) -> tuple[Commit, ...]:
        """Return the commits that a night tries, oldest first.

        Where the two oldest commits that were tried, or more, failed for the same reason, those
        before them would too; the newest of them is tried again on the next nights.
        """
        failed: list[int] = []
        reason = ""
        for position, commit in enumerate(self.commits):
            failures = self.attempts.failures.get(f"{commit.hash} {environment.name}")
            if self.is_complete(commit.hash, environment):
                break
            if failures is not None:
                if failed and failures[-1].failed != reason:
                    break
                failed.append(position)
                reason = failures[-1].failed
        return self.commits[failed[-1] :] if len(failed) >= _FAILURES_TO_STOP else self.commits

    def is_ours(self, name: str) -> bool:
        """Tell whether a commit, or a task without one, belongs to this night's part."""
        part, parts = self.part
        return zlib.crc32(name.encode()) % parts == part - 1


def since(oldest: str, commits: Sequence[Commit], repository: Path) -> tuple[Commit, ...]:
    """Return the commits that are to be measured, oldest first.

    ``oldest`` is a number of commits, the date (such as ``2025-01-31``) or the name (commit, tag
    or branch of the repository) of the oldest; empty for all of them.

    Raises:
        WatchError: ``oldest`` is none of these.
    """
    if not oldest:
        return tuple(commits)
    if re.fullmatch("[1-9][0-9]{0,5}", oldest):  # a longer number is the hash of a commit
        return tuple(commits[-int(oldest) :])
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
