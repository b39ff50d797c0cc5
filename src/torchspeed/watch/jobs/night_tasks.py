"""The kinds of tasks that a night can do, and where they come from.

To add a kind, write a class like `MeasureCommit` (`torchspeed.watch.jobs.night_queue.Task` says
what it needs) and a source that yields its tasks, and put the source into `SOURCES`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from torchspeed.errors import TorchspeedError
from torchspeed.watch.asv.case_outcomes import NOT_BUILT
from torchspeed.watch.asv.selection import EVERYTHING, Selection
from torchspeed.watch.asv.settings import Pair
from torchspeed.watch.history.records import Commit
from torchspeed.watch.history.releases import IMPORT_CASE
from torchspeed.watch.jobs import preflight
from torchspeed.watch.jobs.bisection import bisection_order
from torchspeed.watch.jobs.confirm import Suspect, confirm_suspects
from torchspeed.watch.jobs.examine import Examination, examinations
from torchspeed.watch.jobs.measuring import measure_commit
from torchspeed.watch.jobs.night_queue import Situation, Source, Tonight
from torchspeed.watch.jobs.reference import measure_against_reference
from torchspeed.watch.turns.cases import list_cases
from torchspeed.watch.turns.release_environments import remove_environment
from torchspeed.watch.turns.releases import ReleasePair, measure_releases, release_pairs
from torchspeed.watch.turns.sides import side

_NEWEST = 3
"""Commits of which one is measured before anything else; failures must not use up the night."""


@dataclass(frozen=True, slots=True)
class MeasureCommit:
    """Measure one commit with one torch release."""

    commit: Commit
    pair: Pair
    reason: str
    full: bool = False
    """Whether it measures every case, not only those that count this night."""

    @property
    def name(self) -> str:
        """Commit and environment."""
        return f"{self.commit.hash} {self.pair.environment}{' full' * self.full}"

    def __str__(self) -> str:
        what = f"{self.commit.hash[:8]} {self.commit.subject} with {self.pair}"
        return f"{what}, every case" if self.full else what

    def is_done(self, situation: Situation) -> bool:
        """Whether each case has a value or a reason."""
        coverage = situation.full_coverage if self.full else situation.coverage
        return coverage.is_complete(self.commit.hash, self.pair.stored_as)

    def run(self, tonight: Tonight) -> str:
        """Measure what is missing; what failed on an earlier night is tried again."""
        preflight.check_room(tonight.place.configuration, (self.pair,))
        outcomes = measure_commit(
            tonight.place,
            self.commit.hash,
            self.pair,
            EVERYTHING if self.full else tonight.selection,
            retry_failed=self.name in tonight.attempts.failures,
        )
        tonight.tally.add(outcomes)
        return NOT_BUILT if any(reason == NOT_BUILT for _, reason in outcomes.values()) else ""


@dataclass(frozen=True, slots=True)
class MeasureAgainstReference:
    """Measure one commit with one torch release, interleaved with the reference."""

    commit: Commit
    pair: Pair
    reason: str = "missing reference"

    @property
    def name(self) -> str:
        """Commit and environment."""
        return f"{self.commit.hash} {self.pair.environment} reference"

    def __str__(self) -> str:
        commit = f"{self.commit.hash[:8]} {self.commit.subject}"
        return f"{commit} with {self.pair} against the reference"

    def is_done(self, situation: Situation) -> bool:
        """Whether each case has a ratio or a reason."""
        references = situation.references
        return references is None or references.is_complete(self.commit.hash, self.pair.torch)

    def run(self, tonight: Tonight) -> str:
        """Measure the cases that have no ratio yet."""
        preflight.check_room(tonight.place.configuration, (self.pair,))
        for compared in measure_against_reference(
            tonight.place, self.commit.hash, self.pair, tonight.selection.only_times()
        ):
            tonight.tally.add_unmeasured(compared.unmeasured, "against the reference")
        return ""


@dataclass(frozen=True, slots=True)
class ConfirmChanges:
    """Measure the suspected changes between two commits again, interleaved."""

    suspects: tuple[Suspect, ...]
    """Of the same two commits and torch release."""
    pair: Pair
    reason: str = "suspected change"

    @property
    def name(self) -> str:
        """Both commits and the environment."""
        first = self.suspects[0]
        return f"confirm {first.before}..{first.after} {self.pair.environment}"

    def __str__(self) -> str:
        first = self.suspects[0]
        return f"suspected changes between {first.before[:8]} and {first.after[:8]}, {self.pair}"

    def is_done(self, situation: Situation) -> bool:
        """Whether what it measures is decided, or has changed."""
        return self not in suspected_changes(situation)

    def run(self, tonight: Tonight) -> str:
        """Measure all of them in one comparison."""
        preflight.check_room(tonight.place.configuration, (self.pair,))
        for compared in confirm_suspects(tonight.place, self.suspects):
            tonight.tally.add_unmeasured(compared.unmeasured, "measured again")
        return ""


@dataclass(frozen=True, slots=True)
class ExamineChange:
    """Narrow a confirmed change to one commit, or name its operators."""

    examination: Examination
    reason: str = "confirmed change"

    @property
    def name(self) -> str:
        """What is examined, of which case, both commits and the environment."""
        what = self.examination
        commits = f"{what.before}..{what.after}"
        return f"{what.what} {what.case} {commits} {what.pair.environment}"

    @property
    def pair(self) -> Pair:
        """Both commits are measured in it."""
        return self.examination.pair

    def __str__(self) -> str:
        what = self.examination
        return (
            f"{what.what} {what.case} between {what.before[:8]} and {what.after[:8]}, {what.pair}"
        )

    def is_done(self, situation: Situation) -> bool:
        """Whether the answer is known, or the change is not confirmed any more."""
        return self not in confirmed_changes(situation)

    def run(self, tonight: Tonight) -> str:
        """Measure and profile both commits, and commits between them."""
        preflight.check_room(tonight.place.configuration, (self.pair,))
        print(self, flush=True)
        return self.examination.run(tonight.place)


@dataclass(frozen=True, slots=True)
class CompareReleases:
    """Compare a release that asv.conf.json lists under ``releases`` with its predecessor."""

    releases: ReleasePair
    expected: frozenset[str]
    """Names of the cases that were compared of other releases."""
    reason: str = "torch release without comparison"
    pair: None = None
    """Its environments are none of asv's; they are removed when the task ends."""

    @property
    def name(self) -> str:
        """Both releases."""
        return f"releases {self.releases.before.torch} {self.releases.after.torch}"

    def __str__(self) -> str:
        return f"torch {self.releases.after.torch} against {self.releases.before.torch}"

    def is_done(self, situation: Situation) -> bool:
        """Whether each expected case has a ratio or a reason."""
        return self not in unmeasured_releases(situation)

    def run(self, tonight: Tonight) -> str:
        """Install both releases, measure the missing cases, remove both."""
        place = tonight.place
        both = (self.releases.before, self.releases.after)
        preflight.check_room(place.configuration, both)
        print(self, flush=True)
        selection = Selection(tonight.selection.pattern, times=True)
        listed = list_cases(place, place.pairs[:1], selection)
        cases = [case for case in listed if case.name in self.expected]
        try:
            for _, result in measure_releases(place, [self.releases], side(place, "HEAD"), cases):
                if isinstance(result, TorchspeedError):
                    raise result
                tonight.tally.add_unmeasured(result.unmeasured, f"with {self}")
        finally:
            for release in both:
                remove_environment(release)
        return ""


def newest_commit(situation: Situation) -> Iterator[MeasureCommit]:
    """The newest commit with the newest release; where that fails, one of those before it."""
    for commit in reversed(situation.commits[-_NEWEST:]):
        task = MeasureCommit(commit, situation.pairs[0], "newest commit")
        yield task
        if task.is_done(situation):
            return


def suspected_changes(situation: Situation) -> Iterator[ConfirmChanges]:
    """The unconfirmed changes of this machine, those of the newest commits first."""
    pairs = {pair.torch: pair for pair in situation.pairs}
    commits = situation.history.commits if situation.history is not None else ()
    for commit in reversed(commits):
        together: dict[tuple[str, str], list[Suspect]] = {}
        for suspect in situation.suspects:
            if suspect.after == commit.hash and suspect.torch in pairs:
                together.setdefault((suspect.before, suspect.torch), []).append(suspect)
        for (_, torch), suspects in together.items():
            yield ConfirmChanges(tuple(suspects), pairs[torch])


def confirmed_changes(situation: Situation) -> Iterator[ExamineChange]:
    """What is not known yet about confirmed changes, those of the newest commits first."""
    if situation.history is not None:
        for examination in examinations(
            situation.configuration.suites,
            situation.history,
            situation.changes,
            situation.machine,
            situation.pairs,
            situation.configuration.package,
        ):
            yield ExamineChange(examination)


def new_releases(situation: Situation) -> Iterator[MeasureCommit]:
    """The newest commit with each release that was never measured here."""
    for commit in situation.commits[-1:]:
        for pair in situation.pairs:
            if not situation.coverage.has(pair.stored_as):
                yield MeasureCommit(commit, pair, "new torch release")


def unmeasured_releases(situation: Situation) -> Iterator[CompareReleases]:
    """Listed releases that lack cases which others have, on machines that compare releases."""
    stored = situation.history.comparisons if situation.history is not None else {}
    comparisons = stored.get(situation.machine, ())
    pairs = release_pairs(situation.configuration.releases, comparisons)
    compared = {case for pair in pairs for case in pair.stored.commits} - {IMPORT_CASE}
    expected = frozenset(case for case in compared if re.search(situation.selection.pattern, case))
    for pair in pairs:
        if pair.missing(expected):
            yield CompareReleases(pair, expected)


def missing_references(situation: Situation) -> Iterator[MeasureAgainstReference]:
    """Every commit that is measured, newest first, with every release."""
    for pair in situation.pairs:
        for commit in reversed(situation.commits):
            if situation.coverage.is_complete(commit.hash, pair.stored_as):
                yield MeasureAgainstReference(commit, pair)


def all_commits(situation: Situation) -> Iterator[MeasureCommit]:
    """Every commit with every release, oldest first, the newest release first."""
    for pair in situation.pairs:
        for commit in situation.commits:
            yield MeasureCommit(commit, pair, "older commit")
        yield from _in_full(situation, pair)


def older_commits(situation: Situation) -> Iterator[MeasureCommit]:
    """Every other commit: with the newest release first, and so that the largest gap shrinks."""
    for pair in situation.pairs:
        tasks = [MeasureCommit(commit, pair, "older commit") for commit in situation.commits]
        yield from _fill_in(tasks, situation)


def remaining_cases(situation: Situation) -> Iterator[MeasureCommit]:
    """Where every case is wanted: the newest commit in full, then the others in the same order."""
    for pair in situation.pairs:
        tasks = list(_in_full(situation, pair))
        yield from tasks[-1:]
        yield from _fill_in(tasks, situation)


def _in_full(situation: Situation, pair: Pair) -> Iterator[MeasureCommit]:
    """Every commit, oldest first, but for those that are set aside already."""
    for commit in situation.commits if situation.full else ():
        if not situation.is_set_aside(MeasureCommit(commit, pair, "older commit")):
            yield MeasureCommit(commit, pair, "every case", full=True)


def _fill_in(tasks: list[MeasureCommit], situation: Situation) -> Iterator[MeasureCommit]:
    known = {place for place, task in enumerate(tasks) if not situation.needs(task)}
    for place in bisection_order(len(tasks), known):
        yield tasks[place]


SOURCES: tuple[Source, ...] = (
    newest_commit,
    suspected_changes,
    confirmed_changes,
    new_releases,
    unmeasured_releases,
    missing_references,
    older_commits,
    remaining_cases,
)
"""Where tasks come from, the most urgent first."""
