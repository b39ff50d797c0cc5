"""The kinds of tasks that a night can do, and where they come from.

To add a kind, write a function like `measure_task` that makes a task, and a source that yields
such tasks, and put the source into `SOURCES`.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from asv_watch.asv.selection import EVERYTHING, cases_of_releases
from asv_watch.asv.settings import NEWEST, EnvironmentSpec
from asv_watch.bench import Tally, measure_commit
from asv_watch.compare.measure import Compared, compare_missing
from asv_watch.comparison import import_case
from asv_watch.engine.cases import list_cases
from asv_watch.engine.sides import reference_side, side
from asv_watch.errors import WatchError
from asv_watch.night.examine import measured_changes
from asv_watch.night.queue import Situation, Task, TaskSource
from asv_watch.night.suspects import Suspects, confirm_suspects
from asv_watch.releases import environments
from asv_watch.releases.closing import VersionPair, closing_pairs, closing_versions
from asv_watch.releases.measure import (
    ReleasePair,
    ladders,
    longest_ladder,
    measure_releases,
    release_pairs,
    releases_of,
)
from asv_watch.versions.commits import Commit

UNMEASURED = "older commit"
INCOMPLETE = "missing cases"
"""Reason to measure a commit that has some of its cases; `UNMEASURED` if it has none."""
_NEWEST = 3
"""At most so many of the newest commits are tried first; failures must not use up the night."""
_REFERENCE_EVERY = 5
"""Every fifth commit is also compared with the reference, to join separate chains."""


def measure_task(
    commit: Commit, environment: EnvironmentSpec, reason: str, suffix: str = ""
) -> Task:
    """Measure this night's cases of one commit in one environment.

    ``suffix`` ends the name of a task that measures other cases than those of the short set.
    """
    name = f"{commit.hash} {environment.name}{suffix}"

    def is_done(situation: Situation) -> bool:
        return situation.coverage.is_complete(commit.hash, environment.stored_as)

    def run(situation: Situation, tally: Tally) -> str:
        outcomes = measure_commit(
            situation.workplace,
            commit.hash,
            environment,
            situation.selection,
            retry_failed=name in situation.attempts.failures,
        )
        tally.add(outcomes)
        return ""

    description = f"{_titled(commit)} with {environment.label}"
    return Task(name, description, reason, (environment,), is_done, run, commit.hash)


def compare_task(
    commit: Commit,
    before: str,
    environment: EnvironmentSpec,
    known: Collection[str],
    suffix: str = "",
) -> Task:
    """Compare a commit with the one measured before it, interleaved, in times and peak memory.

    ``known`` holds the cases in which it was compared already; ``suffix`` ends the name, as that
    of `measure_task` does.
    """

    def is_done(situation: Situation) -> bool:
        return situation.compared_cases(commit.hash, environment) >= situation.measurable_cases

    def run(situation: Situation, tally: Tally) -> str:
        print(_titled(commit), flush=True)
        workplace, selection = situation.workplace, situation.selection
        version = environment.version or NEWEST
        sides = side(workplace, before, version), side(workplace, commit.hash, version)
        for compared in compare_missing(
            workplace, sides, selection, known, "compare", "time", "memory"
        ):
            tally.add_failures(compared.failures, f"against {before[:8]}")
        return ""

    name = f"compare {before}..{commit.hash} {environment.name}{suffix}"
    description = f"{_titled(commit)} against {before[:8]}, {environment.label}"
    return Task(name, description, "new commit", (environment,), is_done, run, commit.hash)


def reference_task(commit: Commit, environment: EnvironmentSpec) -> Task:
    """Measure one commit in one environment, interleaved with the reference."""

    def is_done(situation: Situation) -> bool:
        references = situation.references
        return references is None or references.is_complete(commit.hash, environment.release)

    def run(situation: Situation, tally: Tally) -> str:
        workplace, references = situation.workplace, situation.references
        sides = reference_side(workplace), side(workplace, commit.hash, environment.version)
        known = references.measured(commit.hash, environment.release) if references else ()
        for compared in compare_missing(
            workplace, sides, situation.selection, known, "reference", "time"
        ):
            tally.add_failures(compared.failures, "against the reference")
        return ""

    name = f"{commit.hash} {environment.name} reference"
    description = f"{_titled(commit)} with {environment.label} against the reference"
    return Task(name, description, "missing reference", (environment,), is_done, run, commit.hash)


def confirm_task(suspects: Suspects, environment: EnvironmentSpec) -> Task:
    """Compare two commits in the cases that are suspected, or were compared only once."""
    compared: list[Compared] = []

    def is_done(situation: Situation) -> bool:
        # If this was their first comparison, the second one comes on the next night.
        return bool(compared) or suspects not in situation.suspects

    def run(situation: Situation, tally: Tally) -> str:
        compared.append(confirm_suspects(situation.workplace, suspects))
        tally.add_failures(compared[-1].failures, "measured again")
        return ""

    before, after = suspects.before, suspects.after
    name = f"confirm {before}..{after} {environment.name}"
    description = f"changes between {before[:8]} and {after[:8]}, {environment.label}"
    return Task(name, description, "suspected change", (environment,), is_done, run)


def release_task(
    ladder: Sequence[ReleasePair], expected: frozenset[str], source: TaskSource
) -> Task:
    """Compare neighbouring releases of asv.conf.json's ``releases`` at once, for a source.

    A pair that fails is stored as failed under its own name, and later tried alone.
    """
    oldest, *later = releases_of(ladder)
    name = _name_of_releases(ladder)
    older = [release.version for release in reversed([oldest, *later[:-1]])]
    description = " against ".join([str(later[-1].release), *older])

    def is_done(situation: Situation) -> bool:
        return all(task.name != name for task in source(situation))

    def run(situation: Situation, tally: Tally) -> str:
        workplace = situation.workplace
        print(description, flush=True)
        package = side(workplace, "HEAD")
        listed = list_cases(workplace, [package], EVERYTHING, "time", "memory")
        cases = [case for case in listed if case.name in expected]
        failures = []
        try:
            for pair, result in measure_releases(workplace, ladder, package, cases):
                if isinstance(result, WatchError):
                    failures.append(str(result))
                    if len(ladder) > 1:  # else the night stores it under the same name
                        situation.attempts.add_failure(_name_of_releases([pair]), str(result))
                else:
                    against = f"with {pair.after.release} against {pair.before.version}"
                    tally.add_failures(result.failures, against)
        finally:
            for release in (oldest, *later):
                environments.remove_environment(release)
        if failures:
            raise WatchError("; ".join(dict.fromkeys(failures)))
        return ""

    return Task(
        name,
        description,
        "release without comparison",
        (oldest, *later),
        is_done,
        run,
        at_once=tuple(_name_of_releases([pair]) for pair in ladder),
    )


def _name_of_releases(ladder: Sequence[ReleasePair]) -> str:
    oldest, *later = releases_of(ladder)
    return " ".join(["releases", str(oldest.release), *(release.version for release in later)])


def _titled(commit: Commit) -> str:
    return f"{commit.hash[:8]} {commit.subject}"


def new_commit(situation: Situation, suffix: str = "") -> Iterator[Task]:
    """Yield the comparison of the newest commit with the one measured before it.

    If that fails, the comparisons of earlier commits follow. ``suffix`` ends the tasks' names.
    """
    environment = situation.workplace.environments[0]
    for commit in reversed(situation.commits[-_NEWEST:]):
        before = situation.measured_before(commit.hash, environment)
        if before is None:
            return
        known = situation.compared_cases(commit.hash, environment)
        task = compare_task(commit, before, environment, known, suffix)
        yield task
        if task.is_done(situation):
            return


def newest_commit(situation: Situation, suffix: str = "") -> Iterator[Task]:
    """Yield the newest commit with the newest release, and others while that fails.

    ``suffix`` ends the tasks' names.
    """
    environment = situation.workplace.environments[0]
    for commit in reversed(situation.commits[-_NEWEST:]):
        task = measure_task(commit, environment, "newest commit", suffix)
        yield task
        if task.is_done(situation):
            return


def night_cases(situation: Situation) -> Iterator[Task]:
    """Yield the same two tasks for the cases that are measured at night alone.

    They come after those of the short set, so that a night answers as soon for these.
    """
    further = situation.with_night_cases
    if further is None:
        return
    suffix = " night cases"
    if further.measurable_cases:
        yield from map(_in_night_cases, new_commit(further, suffix))
    if further.selected_cases:
        yield from map(_in_night_cases, newest_commit(further, suffix))


def _in_night_cases(task: Task) -> Task:
    def chosen(situation: Situation) -> Situation:
        return situation.with_night_cases or situation

    return replace(
        task,
        reason=f"{task.reason}, more cases",
        is_done=lambda situation: task.is_done(chosen(situation)),
        run=lambda situation, tally: task.run(chosen(situation), tally),
    )


def suspected_changes(situation: Situation) -> Iterator[Task]:
    """Yield the changes to compare on this machine, those of the newest commits first."""
    by_release = {spec.release: spec for spec in situation.workplace.environments}
    for suspects in situation.suspects:
        if suspects.release in by_release:
            yield confirm_task(suspects, by_release[suspects.release])


def new_releases(situation: Situation) -> Iterator[Task]:
    """Yield the newest commit with each release that was never measured here."""
    for commit in situation.commits[-1:]:
        for environment in situation.workplace.environments:
            if not situation.coverage.has(environment.stored_as):
                yield measure_task(commit, environment, "new release")


def unmeasured_releases(situation: Situation) -> Iterator[Task]:
    """Yield listed releases that lack cases of others, on machines that compare releases."""
    yield from _pairs_of_releases(situation, release_pairs, unmeasured_releases)


def closing_releases(situation: Situation) -> Iterator[Task]:
    """Yield older releases to compare with the newest, in cases that link their neighbours."""
    yield from _pairs_of_releases(situation, closing_pairs, closing_releases)


def _pairs_of_releases(
    situation: Situation, pairs_of: Callable[..., tuple[ReleasePair, ...]], source: TaskSource
) -> Iterator[Task]:
    configuration = situation.workplace.configuration
    failures = situation.attempts.failures
    for requirement, releases in configuration.releases.items():
        pairs = release_pairs(requirement, releases, situation.comparisons)
        compared = {case for pair in pairs for case in pair.stored.ratios}
        asked = situation.selection
        selection = asked if asked.pattern else cases_of_releases(configuration.declared)
        expected = frozenset(filter(selection.matches, compared - {import_case(requirement)}))
        wanted = pairs_of(requirement, releases, situation.comparisons)
        installable = [pair for pair in wanted if not pair.lacks_python]
        most = longest_ladder(situation.workplace, installable)
        for failed, group in itertools.groupby(
            installable, lambda pair: _name_of_releases([pair]) in failures
        ):
            for ladder in ladders(group, expected, 2 if failed else most):
                yield release_task(ladder, expected, source)


def closing_versions_of(situation: Situation) -> Iterator[Task]:
    """Yield each older version of the package with the newest one, as measured here."""
    environment, history = situation.workplace.environments[0], situation.history
    if history is None:
        return
    pairs = closing_versions(
        situation.commits, history.versions, situation.comparisons, environment.release
    )
    for pair in pairs:
        if not pair.cases >= situation.measurable_cases:
            yield _version_task(pair, environment)


def _version_task(pair: VersionPair, environment: EnvironmentSpec) -> Task:
    task = compare_task(pair.after, pair.before.hash, environment, pair.cases)
    name = f"versions {task.name.removeprefix('compare ')}"

    def is_done(situation: Situation) -> bool:
        return all(other.name != name for other in closing_versions_of(situation))

    return replace(
        task, name=name, reason="second way between versions", is_done=is_done, commit=""
    )


def missing_references(situation: Situation) -> Iterator[Task]:
    """Yield measured commits, newest first: every fifth of the branch, and every version.

    The newest is among them while nothing is, so that it joins this machine's ratios with those of
    others. If the night works on a part, every commit is among them: its neighbours may belong to
    other parts.
    """
    versions = situation.history.versions if situation.history is not None else {}
    for environment in situation.workplace.environments:
        measured = [
            commit
            for commit in situation.commits
            if situation.coverage.is_complete(commit.hash, environment.stored_as)
            and situation.is_ours(reference_task(commit, environment))
        ]
        numbers = {commit.hash: number for number, commit in enumerate(situation.commits)}
        interval = _REFERENCE_EVERY if situation.part == (1, 1) else 1
        chosen = [
            commit
            for commit in measured
            if numbers[commit.hash] % interval == 0 or commit.hash in versions
        ]
        for commit in reversed(chosen or measured[-1:]):
            yield reference_task(commit, environment)


def all_commits(situation: Situation) -> Iterator[Task]:
    """Yield every commit with every release, oldest first, the newest release first."""
    for environment in situation.workplace.environments:
        yield from _with_release(situation, environment)


def _with_release(situation: Situation, environment: EnvironmentSpec) -> Iterator[Task]:
    for commit in situation.reachable(environment):
        is_begun = situation.coverage.is_begun(commit.hash, environment.stored_as)
        yield measure_task(commit, environment, INCOMPLETE if is_begun else UNMEASURED)


def older_commits(situation: Situation) -> Iterator[Task]:
    """Yield commits not measured yet, newest release first, so that the largest gap shrinks."""
    for environment in situation.workplace.environments:
        tasks = list(_with_release(situation, environment))
        known = {index for index, task in enumerate(tasks) if not situation.needs(task)}
        for index in bisection_order(len(tasks), known):
            yield tasks[index]


def bisection_order(length: int, known: Collection[int]) -> Iterator[int]:
    """Yield the unknown positions, each time the middle of the largest gap.

    Of several largest gaps the newest is split first. Position 0 is the oldest commit; both
    ends of the history bound a gap as known positions do.
    """
    bounds = [-1, *sorted(known), length]
    gaps = [(-(after - before), -after) for before, after in itertools.pairwise(bounds)]
    heapq.heapify(gaps)
    while gaps:
        size, after = heapq.heappop(gaps)
        before, after = -after + size, -after
        if after - before < 2:
            continue
        middle = (before + after) // 2
        yield middle
        heapq.heappush(gaps, (-(middle - before), -middle))
        heapq.heappush(gaps, (-(after - middle), -after))


SOURCES: tuple[TaskSource, ...] = (
    new_commit,
    newest_commit,
    suspected_changes,
    measured_changes,
    night_cases,
    new_releases,
    unmeasured_releases,
    missing_references,
    older_commits,
    closing_releases,
    closing_versions_of,
)
"""The sources of tasks, the most urgent first."""
