"""The five sources of a night's tasks, most urgent first: `SOURCES`.

A source yields what is left to do. A task is done when no source yields it any more.
"""

import heapq
import itertools
from collections.abc import Collection, Iterator

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.night import tasks
from asv_watch.night.state import NightState
from asv_watch.night.tasks import NIGHT_CASES, Task
from asv_watch.versions.version import Commit

_MOST_NEWEST = 3
"""Try at most three of the newest commits, the next one if one fails."""
_REFERENCE_EVERY = 5
"""Every fifth commit is also compared with the reference, to join separate chains."""


def newest_commits(state: NightState) -> Iterator[Task]:
    """Compare the newest commit with the one measured before it, then store its values.

    The cases of nights alone come after the short set.
    """
    yield from _newest(state)
    if state.with_night_cases is not None:
        yield from _newest(state.with_night_cases, ", more cases", NIGHT_CASES)


def _newest(state: NightState, more: str = "", suffix: str = "") -> Iterator[Task]:
    environment = state.workplace.environments[0]
    newest = state.commits[: -_MOST_NEWEST - 1 : -1]
    for commit in newest:
        before = state.measured_before(commit, environment)
        if before is None or state.is_compared(commit.hash, environment):
            break
        yield tasks.compare_task(state, commit, before, environment, f"new commit{more}", suffix)
    for commit in newest:
        if state.is_complete(commit.hash, environment):
            break
        yield tasks.measure_task(state, commit, environment, f"newest commit{more}", suffix)


def one_day_changes(state: NightState) -> Iterator[Task]:
    """Compare again what a small change needs a second day for, commits before releases."""
    changes = [change for change in state.findings.changes if change.needs_second_day]
    for environment, commits, cases in state.to_compare(changes):
        yield tasks.confirm_task(state, commits, cases, environment, "one-day change")
    yield from tasks.release_tasks(state, second_day=True)


def suspicions(state: NightState) -> Iterator[Task]:
    """Compare the commits of suspected changes, then narrow and explain the measured ones."""
    history, workplace, findings = state.history, state.workplace, state.findings
    suspected = [change for change in findings.changes if not change.is_measured]
    for environment, commits, cases in state.to_compare([*suspected, *findings.near]):
        yield tasks.confirm_task(state, commits, cases, environment, "suspected change")
    for change, case, before, after in state.changes(findings.changes):
        is_certain = change.is_measured and not change.needs_second_day
        if not is_certain or workplace.declared.uses_gpu(case):
            continue
        environment, commits = state.by_release[after.release], (before.commit, after.commit)
        first, last = (history.positions[hash_] for hash_ in commits)
        if sum(first < commit.position <= last for commit in state.commits) > 1:
            yield tasks.examine_task(state, "bisect", case, environment, commits)
        is_explained = change.explanation is not None or change.kind != "time"
        if not is_explained and workplace.declared.profiler is not None:
            yield tasks.examine_task(state, "explain", case, environment, commits)


def releases(state: NightState) -> Iterator[Task]:
    """Measure the newest commit with each new release, and compare listed ones as neighbours."""
    for commit in state.commits[-1:]:
        for environment in state.workplace.environments:
            if not state.was_used(environment):
                yield tasks.measure_task(state, commit, environment, "new release")
    yield from tasks.release_tasks(state, second_day=False)


def older_commits(state: NightState) -> Iterator[Task]:
    """Link commits to the reference; measure others so that the largest gap shrinks."""
    for environment in state.workplace.environments:
        for commit in _without_reference(state, environment):
            yield tasks.reference_task(state, commit, environment)
    for environment in state.workplace.environments:
        commits = state.reachable(environment)
        known = {
            at for at, each in enumerate(commits) if state.is_complete(each.hash, environment)
        }
        for index in bisection_order(len(commits), known):
            yield tasks.measure_task(state, commits[index], environment, "older commit")


SOURCES = newest_commits, one_day_changes, suspicions, releases, older_commits
"""The most urgent first."""


def left_tasks(state: NightState) -> Iterator[Task]:
    """Yield everything that is left to do, the most urgent first."""
    for source in SOURCES:
        yield from source(state)


def due_tasks(
    state: NightState, tried: Collection[str], unusable: Collection[str]
) -> Iterator[Task]:
    """Yield what is left to do, except what belongs to other parts or is set aside.

    Args:
        state: the results so far.
        tried: names of tasks that were tried tonight.
        unusable: names of environments that could not be made tonight.
    """
    for task in left_tasks(state):
        environment = task.environment.name if task.environment is not None else ""
        if (
            task.name not in tried
            and environment not in unusable
            and state.is_ours(task.commit or task.name)
            and not state.attempts.set_aside(task.name, environment)
        ):
            yield task


def _without_reference(state: NightState, environment: EnvironmentSpec) -> Iterator[Commit]:
    """Yield measured commits, newest first: every fifth of the branch, and every version.

    The newest is among them while nothing is, so that it joins this machine's ratios with those of
    others. If the night works on a part, every commit is among them: its neighbours may belong to
    other parts.
    """
    if not state.has_reference:
        return
    interval = _REFERENCE_EVERY if state.part == (1, 1) else 1
    measured = {
        number: commit
        for number, commit in enumerate(state.commits)
        if state.is_ours(commit.hash) and state.is_complete(commit.hash, environment)
    }
    chosen = [
        commit
        for number, commit in measured.items()
        if number % interval == 0 or commit.hash in state.history.versions
    ]
    for commit in reversed(chosen or [*measured.values()][-1:]):
        if not state.is_linked(commit.hash, environment.release):
            yield commit


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
