"""The kinds of tasks that a night can do, and where they come from.

To add a kind, write a function like `measure_task` that makes a task, and a source that yields
such tasks, and put the source into `SOURCES`.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator

from asv_watch.asv.case_outcomes import NOT_BUILT
from asv_watch.asv.selection import EVERYTHING, Selection
from asv_watch.asv.settings import Pair
from asv_watch.bench.measure import measure_commit
from asv_watch.compare.confirm import Suspect, confirm_suspects
from asv_watch.compare.measure import Compared
from asv_watch.compare.reference import measure_against_reference
from asv_watch.errors import WatchError
from asv_watch.interleave.cases import list_benchmarks, timed_cases, value_cases
from asv_watch.interleave.sides import side
from asv_watch.night.examine import Examination, examinations
from asv_watch.night.gap_order import bisection_order
from asv_watch.night.queue import Situation, Task, TaskSource, Tonight
from asv_watch.records.records import Commit
from asv_watch.records.release_order import is_development
from asv_watch.records.releases import IMPORT_CASE
from asv_watch.releases import package_index
from asv_watch.releases.environments import remove_environment
from asv_watch.releases.measure import ReleasePair, measure_releases, release_pairs

_NEWEST = 3
"""Commits of which one is measured before anything else; failures must not use up the night."""


def measure_task(commit: Commit, pair: Pair, reason: str, *, full: bool = False) -> Task:
    """Measure one commit with one torch release: every case, or those that count this night."""
    name = f"{commit.hash} {pair.environment}{' full' * full}"

    def is_done(situation: Situation) -> bool:
        coverage = situation.full_coverage if full else situation.coverage
        return coverage.is_complete(commit.hash, pair.stored_as)

    def run(tonight: Tonight) -> str:
        outcomes = measure_commit(
            tonight.place,
            commit.hash,
            pair,
            EVERYTHING if full else tonight.selection,
            retry_failed=name in tonight.attempts.failures,
        )
        tonight.tally.add(outcomes)
        return NOT_BUILT if any(reason == NOT_BUILT for _, reason in outcomes.values()) else ""

    description = f"{_titled(commit)} with {pair}{', every case' * full}"
    return Task(name, description, reason, (pair,), is_done, run)


def reference_task(commit: Commit, pair: Pair) -> Task:
    """Measure one commit with one torch release, interleaved with the reference."""

    def is_done(situation: Situation) -> bool:
        references = situation.references
        return references is None or references.is_complete(commit.hash, pair.torch)

    def run(tonight: Tonight) -> str:
        for compared in measure_against_reference(
            tonight.place, commit.hash, pair, tonight.selection.only_times()
        ):
            tonight.tally.add_unmeasured(compared.unmeasured, "against the reference")
        return ""

    name = f"{commit.hash} {pair.environment} reference"
    description = f"{_titled(commit)} with {pair} against the reference"
    return Task(name, description, "missing reference", (pair,), is_done, run)


def confirm_task(suspects: list[Suspect], pair: Pair) -> Task:
    """Measure the suspected changes between two commits again, in one interleaved comparison."""

    def is_done(situation: Situation) -> bool:
        return suspects not in [together for together, _ in _suspects_together(situation)]

    def run(tonight: Tonight) -> str:
        for compared in confirm_suspects(tonight.place, suspects):
            tonight.tally.add_unmeasured(compared.unmeasured, "measured again")
        return ""

    before, after = suspects[0].before, suspects[0].after
    name = f"confirm {before}..{after} {pair.environment}"
    description = f"suspected changes between {before[:8]} and {after[:8]}, {pair}"
    return Task(name, description, "suspected change", (pair,), is_done, run)


def examine_task(examination: Examination) -> Task:
    """Narrow a measured change to one commit, or name its operators."""
    what, pair = f"{examination.what} {examination.case}", examination.pair
    before, after = examination.before, examination.after
    description = f"{what} between {before[:8]} and {after[:8]}, {pair}"

    def is_done(situation: Situation) -> bool:
        return examination not in _examinations(situation)

    def run(tonight: Tonight) -> str:
        print(description, flush=True)
        return examination.run(tonight.place)

    name = f"{what} {before}..{after} {pair.environment}"
    return Task(name, description, "measured change", (pair,), is_done, run)


def release_task(releases: ReleasePair, expected: frozenset[str]) -> Task:
    """Compare a release that asv.conf.json lists under ``releases`` with its predecessor.

    Args:
        releases: both.
        expected: names of the cases that were compared of other releases.
    """
    both = releases.before, releases.after
    description = f"torch {releases.after.torch} against {releases.before.torch}"

    def is_done(situation: Situation) -> bool:
        return (releases, expected) not in _unmeasured_releases(situation)

    def run(tonight: Tonight) -> str:
        place = tonight.place
        print(description, flush=True)
        pattern = tonight.selection.pattern or place.configuration.release_cases
        package = side(place, "HEAD")
        listed = list_benchmarks(place, place.pairs[:1])
        cases = [case for case in timed_cases(listed, Selection(pattern)) if case.name in expected]
        values = value_cases(listed, Selection(pattern, short=True))
        try:
            for _, result in measure_releases(place, [releases], package, cases, values):
                if isinstance(result, WatchError):
                    raise result
                if isinstance(result, Compared):
                    tonight.tally.add_unmeasured(result.unmeasured, f"with {description}")
        finally:
            for release in both:
                remove_environment(release)
        return ""

    name = f"releases {releases.before.torch} {releases.after.torch}"
    return Task(name, description, "torch release without comparison", both, is_done, run)


def _titled(commit: Commit) -> str:
    return f"{commit.hash[:8]} {commit.subject}"


def newest_commit(situation: Situation) -> Iterator[Task]:
    """Yield the newest commit with the newest release, and others while that fails."""
    for commit in reversed(situation.commits[-_NEWEST:]):
        task = measure_task(commit, situation.pairs[0], "newest commit")
        yield task
        if task.is_done(situation):
            return


def suspected_changes(situation: Situation) -> Iterator[Task]:
    """Yield the suspected changes of this machine, those of the newest commits first."""
    for suspects, pair in _suspects_together(situation):
        yield confirm_task(suspects, pair)


def _suspects_together(situation: Situation) -> Iterator[tuple[list[Suspect], Pair]]:
    """Yield the suspected changes between the same two commits with the same release."""
    pairs = {pair.torch: pair for pair in situation.pairs}
    commits = situation.history.commits if situation.history is not None else ()
    for commit in reversed(commits):
        together: dict[tuple[str, str], list[Suspect]] = {}
        for suspect in situation.suspects:
            if suspect.after == commit.hash and suspect.torch in pairs:
                together.setdefault((suspect.before, suspect.torch), []).append(suspect)
        for (_, torch), suspects in together.items():
            yield suspects, pairs[torch]


def measured_changes(situation: Situation) -> Iterator[Task]:
    """Yield what is not known yet about measured changes, those of the newest commits first."""
    return map(examine_task, _examinations(situation))


def _examinations(situation: Situation) -> Iterator[Examination]:
    if situation.history is not None:
        yield from examinations(
            situation.configuration.repository,
            situation.history,
            situation.changes,
            situation.machine,
            situation.pairs,
            situation.configuration.package,
        )


def new_releases(situation: Situation) -> Iterator[Task]:
    """Yield the newest commit with each release that was never measured here."""
    for commit in situation.commits[-1:]:
        for pair in situation.pairs:
            if not situation.coverage.has(pair.stored_as):
                yield measure_task(commit, pair, "new torch release")


def unmeasured_releases(situation: Situation) -> Iterator[Task]:
    """Yield listed releases that lack cases of others, on machines that compare releases.

    After them comes the newest development build of torch, on machines that have compared one.
    """
    return itertools.starmap(release_task, _unmeasured_releases(situation))


def _unmeasured_releases(situation: Situation) -> Iterator[tuple[ReleasePair, frozenset[str]]]:
    stored = situation.history.comparisons if situation.history is not None else {}
    comparisons = stored.get(situation.machine, ())
    releases = situation.configuration.releases
    pairs = release_pairs(releases, comparisons)
    if any(is_development(stored.header.after.torch) for stored in comparisons):
        for newest in releases[:1]:
            build = _build_of_tonight(newest.torch, situation.configuration.python)
            if build is not None:
                pairs += release_pairs((newest.of_release(*build), newest), comparisons)
    compared = {case for pair in pairs for case in pair.stored.commits} - {IMPORT_CASE}
    pattern = situation.selection.pattern or situation.configuration.release_cases
    expected = frozenset(case for case in compared if re.search(pattern, case))
    for pair in pairs:
        if pair.missing(expected):
            yield pair, expected


@functools.cache
def _build_of_tonight(newest: str, python: str) -> tuple[str, str] | None:
    """Ask once a night for the newest development build of torch and of its torchvision."""
    try:
        return package_index.development_build(newest, python)
    except WatchError:
        return None


def missing_references(situation: Situation) -> Iterator[Task]:
    """Yield every commit that is measured, newest first, with every release."""
    for pair in situation.pairs:
        for commit in reversed(situation.commits):
            if situation.coverage.is_complete(commit.hash, pair.stored_as):
                yield reference_task(commit, pair)


def all_commits(situation: Situation) -> Iterator[Task]:
    """Yield every commit with every release, oldest first, the newest release first."""
    for pair in situation.pairs:
        for commit in situation.reachable(pair):
            yield measure_task(commit, pair, "older commit")
        yield from _in_full(situation, pair)


def older_commits(situation: Situation) -> Iterator[Task]:
    """Yield commits not measured yet, newest release first, so that the largest gap shrinks."""
    for pair in situation.pairs:
        tasks = [
            measure_task(commit, pair, "older commit") for commit in situation.reachable(pair)
        ]
        yield from _fill_in(tasks, situation)


def remaining_cases(situation: Situation) -> Iterator[Task]:
    """Yield, where every case is wanted, the newest commit in full, then the others in order."""
    for pair in situation.pairs:
        tasks = list(_in_full(situation, pair))
        yield from tasks[-1:]
        yield from _fill_in(tasks, situation)


def _in_full(situation: Situation, pair: Pair) -> Iterator[Task]:
    """Yield every commit, oldest first, but for those that are set aside already."""
    for commit in situation.reachable(pair) if situation.full else ():
        if not situation.is_set_aside(measure_task(commit, pair, "older commit")):
            yield measure_task(commit, pair, "every case", full=True)


def _fill_in(tasks: list[Task], situation: Situation) -> Iterator[Task]:
    known = {place for place, task in enumerate(tasks) if not situation.needs(task)}
    for place in bisection_order(len(tasks), known):
        yield tasks[place]


SOURCES: tuple[TaskSource, ...] = (
    newest_commit,
    suspected_changes,
    measured_changes,
    new_releases,
    unmeasured_releases,
    missing_references,
    older_commits,
    remaining_cases,
)
"""Where tasks come from, the most urgent first."""
