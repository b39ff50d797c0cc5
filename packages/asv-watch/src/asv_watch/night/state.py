"""What a night knows when it chooses its next task: the commits, and all results so far."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from asv_watch.asv.selection import SHORT, Selection
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.asv.steps import Levels
from asv_watch.comparison import DAY, Comparison, Ratio
from asv_watch.engine.cases import Measures, choose_cases
from asv_watch.engine.coverage import Coverage, ReferenceCoverage, selected_cases
from asv_watch.engine.workplace import Workplace
from asv_watch.errors import WatchError
from asv_watch.judge.changes import Change
from asv_watch.judge.findings import Findings, analyse
from asv_watch.night.attempts import Attempts
from asv_watch.records.history import History
from asv_watch.records.suite_lists import read_machine_list
from asv_watch.releases.measure import ReleasePair, release_pairs
from asv_watch.versions.commits import Commit
from asv_watch.versions.git import ask_git, find_commit
from asv_watch.versions.releases import Release
from asv_watch.versions.version import Version, VersionKey

MOST_DAYS = 3
"""A change is not compared again after it was compared on so many days."""
_FAILURES_TO_STOP = 2
"""After so many commits that fail for the same reason, older ones are not tried."""
_LONGEST_NUMBER = 6
"""Largest number of digits of a count; a longer text is the hash of a commit."""


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
    history: History | None
    """This machine's results of all commits of the branch; ``None`` before the first."""
    began: float
    """When the night began, seconds since the epoch."""
    reference: Version | None = None
    """Version that commits are measured against; ``None`` if asv.conf.json names no usable one."""
    part: tuple[int, int] = (1, 1)
    """The part of the commits that this night works on, from 1, and the number of parts."""
    levels: Levels = dataclasses.field(default_factory=Levels)
    """Levels of series that were found tonight."""

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
        return self.history.comparisons.get(self.workplace.machine, ()) if self.history else ()

    @cached_property
    def release_pairs(self) -> dict[str, tuple[ReleasePair, ...]]:
        """Maps a requirement to its neighbouring releases of asv.conf.json, newest first."""
        return {
            requirement: release_pairs(requirement, releases, self.comparisons)
            for requirement, releases in self.workplace.configuration.releases.items()
        }

    @cached_property
    def coverage(self) -> Coverage:
        """Which commits have each case that counts."""
        results = self.workplace.configuration.results
        return Coverage(results, self.history, self.workplace.machine, self.selection)

    def is_complete(self, commit: Commit, environment: EnvironmentSpec) -> bool:
        """Tell whether a commit has each case that counts."""
        return self.coverage.is_complete(commit.hash, environment.stored_as)

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
    def _measurable_cases(self) -> frozenset[str]:
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

    def is_compared(self, commit: str, environment: EnvironmentSpec) -> bool:
        """Tell whether a commit was compared with another one in each case that counts."""
        return self.compared_cases(commit, environment) >= self._measurable_cases

    def measured_before(self, commit: Commit, environment: EnvironmentSpec) -> str | None:
        """Return the newest measured or compared commit before another, if there is any.

        A commit also counts as measured if a later commit with the same measured code was, such as
        the HEAD of `bench`.
        """
        hashes = self.history.hashes if self.history is not None else {}
        last = self.commits.index(commit)
        for earlier, later in reversed(list(itertools.pairwise(self.commits[: last + 1]))):
            same_code = (hashes.get(n, "") for n in range(earlier.position, later.position))
            if any(
                self.coverage.is_complete(same, environment.stored_as)
                or self.is_compared(same, environment)
                for same in same_code
            ):
                return earlier.hash
        return None

    @cached_property
    def findings(self) -> Findings | None:
        """The findings about the results; ``None`` before the first."""
        return None if self.history is None else analyse(self.history, self.levels)

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
        if history is None:
            return
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
            if self.is_complete(commit, environment):
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
    is_count = oldest.isascii() and oldest.isdecimal() and len(oldest) <= _LONGEST_NUMBER
    if is_count and int(oldest) > 0:
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
