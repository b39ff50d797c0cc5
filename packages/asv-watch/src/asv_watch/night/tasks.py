"""The tasks of a night: their five sources, most urgent first (`SOURCES`), and their kinds.

A source yields what is left to do. A task is done when no source yields it any more.
"""

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from asv_watch.asv.selection import EVERYTHING, Selection
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.bisect import candidates_between, find_culprits
from asv_watch.compare.report import differences_of
from asv_watch.comparison import Kind, import_case
from asv_watch.engine import cases as suites
from asv_watch.engine.measuring import measure
from asv_watch.engine.rounds import PRECISE
from asv_watch.engine.runs import Tally, conditions_of, exported, measure_commit
from asv_watch.engine.workplace import commit_side, reference_side, side
from asv_watch.errors import WatchError
from asv_watch.explain import explain_case
from asv_watch.judge.causes import in_words
from asv_watch.night.state import NightState
from asv_watch.releases import measure as releases
from asv_watch.releases.measure import ReleasePair
from asv_watch.text import quantities
from asv_watch.versions.version import Commit


@dataclass(frozen=True, slots=True)
class Task:
    """Something that a night can do within minutes, and continue on the next night."""

    name: str
    """Identifies the task over the nights, in ``attempts.jsonl``."""
    description: str
    reason: str
    """Reason for the task, such as ``newest commit``."""
    environment: EnvironmentSpec | None
    """The environment of asv that it measures in, which is made if it is missing.

    If that fails, no other task of this environment is tried tonight. ``None`` if the task
    compares releases, whose environments are not asv's.
    """
    run: Callable[[Tally], str | None]
    """Does the task, stores each part as soon as it is measured, and counts outcomes and failures.

    It returns why something may be left to do, as far as that is known. It raises a `WatchError`
    if it failed as a whole; the night goes on with the next task.
    """

    commit: str = ""
    """Full hash of its commit, whose tasks all belong to one part; empty for other tasks."""


_MOST_NEWEST = 3
"""Try at most three of the newest commits, the next one if one fails."""
_REFERENCE_EVERY = 5
"""Every fifth commit is also compared with the reference, to join separate chains."""


def newest_commits(state: NightState) -> Iterator[Task]:
    """Compare the newest commit with the one measured before it, then store its values.

    The cases of nights alone come after the short set.
    """
    environment = state.workplace.environments[0]
    newest = state.commits[: -_MOST_NEWEST - 1 : -1]
    further = (state.with_night_cases, ", more cases", " night cases")
    for of_cases, more, suffix in ((state, "", ""), further):
        if of_cases is None:
            return
        for commit in newest:
            before = of_cases.measured_before(commit, environment)
            if before is None or of_cases.is_compared(commit.hash, environment):
                break
            yield compare_task(of_cases, commit, environment, before, f"new commit{more}", suffix)
        for commit in newest:
            if of_cases.is_complete(commit.hash, environment):
                break
            yield measure_task(of_cases, commit, environment, f"newest commit{more}", suffix)


def one_day_changes(state: NightState) -> Iterator[Task]:
    """Compare again what a small change needs a second day for, commits before releases."""
    changes = [change for change in state.findings.changes if change.needs_second_day]
    for environment, commits, cases in state.to_compare(changes):
        yield confirm_task(state, commits, cases, environment, "one-day change")
    yield from release_tasks(state, second_day=True)


def suspicions(state: NightState) -> Iterator[Task]:
    """Compare the commits of suspected changes, then narrow and explain the measured ones."""
    history, workplace, findings = state.history, state.workplace, state.findings
    suspected = [change for change in findings.changes if not change.is_measured]
    for environment, commits, cases in state.to_compare([*suspected, *findings.near]):
        yield confirm_task(state, commits, cases, environment, "suspected change")
    for change, case, before, after in state.changes(findings.changes):
        is_certain = change.is_measured and not change.needs_second_day
        if not is_certain or workplace.declared.uses_gpu(case):
            continue
        environment, commits = state.by_release[after.release], (before.commit, after.commit)
        first, last = (history.positions[hash_] for hash_ in commits)
        if sum(first < commit.position <= last for commit in state.commits) > 1:
            yield examine_task(state, "bisect", case, environment, commits)
        is_explained = change.explanation is not None or change.kind != "time"
        if not is_explained and workplace.declared.profiler is not None:
            yield examine_task(state, "explain", case, environment, commits)


def new_releases(state: NightState) -> Iterator[Task]:
    """Measure the newest commit with each new release, and compare listed ones as neighbours."""
    for commit in state.commits[-1:]:
        for environment in state.workplace.environments:
            if not state.was_used(environment):
                yield measure_task(state, commit, environment, "new release")
    yield from release_tasks(state, second_day=False)


def older_commits(state: NightState) -> Iterator[Task]:
    """Link commits to the reference; measure others so that the largest gap shrinks."""
    for environment in state.workplace.environments:
        for commit in _without_reference(state, environment):
            yield compare_task(state, commit, environment, "", "missing reference", " reference")
    for environment in state.workplace.environments:
        commits = state.reachable(environment)
        known = [state.is_complete(commit.hash, environment) for commit in commits]
        for index in bisection_order(known):
            yield measure_task(state, commits[index], environment, "older commit")


SOURCES = newest_commits, one_day_changes, suspicions, new_releases, older_commits
"""The most urgent first."""


def left_tasks(state: NightState) -> Iterator[Task]:
    """Return everything that is left to do, the most urgent first."""
    return itertools.chain.from_iterable(source(state) for source in SOURCES)


def due_tasks(state: NightState) -> Iterator[Task]:
    """Yield what is left to do, except what belongs to other parts, was tried or is set aside."""
    for task in left_tasks(state):
        names = {task.name, task.environment.name if task.environment is not None else ""}
        is_over = names & state.attempts.tonight or state.attempts.set_aside(*names)
        if state.is_ours(task.commit or task.name) and not is_over:
            yield task


def _without_reference(state: NightState, environment: EnvironmentSpec) -> Iterator[Commit]:
    """Yield measured commits, newest first: every fifth of the branch, and every version.

    The newest is among them while nothing is, so that it joins this machine's ratios with those of
    others. If the night works on a part, every commit is among them: its neighbours may belong to
    other parts.
    """
    if state.reference is None or "time" not in state.measurable_cases.values():
        return  # it joins times alone
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


def bisection_order(known: Sequence[bool]) -> list[int]:
    """Return the positions of commits that are not known, each time the middle of the largest gap.

    Of several largest gaps the newest is split first. Commits come oldest first; both ends of the
    history bound a gap as known commits do.
    """
    bounds = [-1, *itertools.compress(itertools.count(), known), len(known)]
    gaps = list(itertools.pairwise(bounds))
    middles = []
    for before, after in gaps:  # which grows by both halves of each gap
        middle = (before + after) // 2
        if before < middle:
            middles.append((after - before, after, middle))
            gaps += (before, middle), (middle, after)
    return [middle for _, _, middle in sorted(middles, reverse=True)]


def measure_task(
    state: NightState, commit: Commit, environment: EnvironmentSpec, reason: str, suffix: str = ""
) -> Task:
    """Measure the cases that count of one commit in one environment."""
    name = f"{commit.hash} {environment.name}{suffix}"

    def run(tally: Tally) -> None:
        retry_failed = name in state.attempts.failures
        outcomes = measure_commit(
            state.workplace, commit.hash, environment, state.selection, retry_failed=retry_failed
        )
        tally.add(outcomes)

    description = f"{_titled(commit)} with {environment.label}"
    return Task(name, description, reason, environment, run, commit.hash)


def compare_task(
    state: NightState,
    commit: Commit,
    environment: EnvironmentSpec,
    before: str,
    reason: str,
    suffix: str = "",
) -> Task:
    """Compare a commit with the one measured before it, or else with the reference, interleaved.

    Times and peak memory are compared with a commit, times alone with the reference. Each
    comparison is also a run of the commit.
    """

    def run(tally: Tally) -> None:
        workplace = state.workplace
        kind: Kind = "compare" if before else "reference"
        wanted: tuple[suites.Measures, ...] = ("time", "memory") if before else ("time",)
        compared = state.compared_cases if before else state.linked_cases
        known = compared.get((commit.hash, environment.release), set())
        old = commit_side(workplace, before, environment) if before else reference_side(workplace)
        new = commit_side(workplace, commit.hash, environment)
        benchmarks = suites.list_benchmarks(workplace, (new, old)).benchmarks
        cases = suites.choose_cases(benchmarks, state.selection, workplace.declared, *wanted)
        missing = [case for case in cases if case.name not in known]
        if not missing or old.version == new.version:
            return
        counted = quantities.counted(len(missing), "case")
        print(f"{_titled(commit)}\n  against {old.name}: {counted}", flush=True)
        with exported(workplace, commit.hash, environment, benchmarks):
            conditions = conditions_of(workplace, new)
            measured = measure(workplace, (old, new), missing, kind, conditions=conditions)
        tally.add_failures(measured.between(0, 1).failures, f"against {against}")

    against = before[:8] or "the reference"
    pair = f"compare {before}..{commit.hash}" if before else commit.hash
    return Task(
        f"{pair} {environment.name}{suffix}",
        f"{_titled(commit)} against {against}, {environment.label}",
        reason,
        environment,
        run,
        commit.hash,
    )


def confirm_task(
    state: NightState,
    commits: tuple[str, str],
    names: Collection[str],
    environment: EnvironmentSpec,
    reason: Literal["one-day change", "suspected change"],
) -> Task:
    """Compare the two commits of changes once more, and print the answer for each."""
    before, after = commits

    def run(tally: Tally) -> None:
        workplace = state.workplace
        sides = [commit_side(workplace, commit, environment) for commit in commits]
        listed = suites.list_cases(workplace, sides[:1], EVERYTHING, "time", "memory")
        cases = [case for case in listed if case.name in names]
        if not cases:
            raise WatchError(f"no suite has {', '.join(sorted(names))} any more")
        count = quantities.counted(len(cases), "change")
        print(f"{sides[1].name}\n  against {sides[0].name}: {count}", flush=True)
        compared = measure(workplace, sides, cases, "confirm", PRECISE).between(0, 1)
        for found in differences_of(compared, workplace.machine):
            if found.interval is not None:
                print(f"{found.verdict}: {found.case}, {found.change} ({found.ends})")
        tally.add_failures(compared.failures, "measured again")

    name = f"{reason} {before}..{after} {environment.name}"
    description = f"changes between {before[:8]} and {after[:8]}, {environment.label}"
    return Task(name, description, reason, environment, run)


def examine_task(
    state: NightState,
    kind: Literal["bisect", "explain"],
    case_name: str,
    environment: EnvironmentSpec,
    commits: tuple[str, str],
) -> Task:
    """Narrow a measured change to one commit (bisect), or name its operators (explain)."""
    before, after = commits
    description = f"{kind} {case_name} between {before[:8]} and {after[:8]}, {environment.label}"

    def run(_: Tally) -> str:
        print(description, flush=True)
        workplace = state.workplace
        old, new = (commit_side(workplace, commit, environment) for commit in commits)
        selection = Selection(f"^{re.escape(case_name)}$")
        case, _status = suites.find_case(workplace, [old], selection)
        if kind == "explain":
            explanation = explain_case(workplace, (old, new), case)
            layout = workplace.declared.layout
            print(f"  {in_words(explanation, layout=layout)}", flush=True)
            return ""
        candidates = candidates_between(workplace, old, new)
        culprits = find_culprits(workplace, case, candidates)
        for culprit in culprits:
            print(f"  {culprit}", flush=True)
        narrowed = any(culprit.between + 2 < len(candidates) for culprit in culprits)
        return "" if narrowed else "no commit between the two gave a clear result"

    name = f"{kind} {case_name} {before}..{after} {environment.name}"
    return Task(name, description, "measured change", environment, run)


def release_tasks(state: NightState, *, second_day: bool) -> Iterator[Task]:
    """Compare listed releases with their predecessors, on a machine that compared some before.

    They are compared in the cases that they lack or, for a ``second_day``, again in those whose
    difference one day alone shows.
    """
    workplace = state.workplace
    of_releases = workplace.declared.cases_of_releases
    selection = state.selection if state.selection.pattern else of_releases
    for requirement, pairs in state.release_pairs.items():
        compared = {case for pair in pairs for case in pair.stored.ratios}
        expected = list(filter(selection.matches, compared - {import_case(requirement)}))

        def wanted(pair: ReleasePair, expected: Sequence[str] = expected) -> list[str]:
            if not second_day:
                return pair.missing(expected)
            ratios = [ratio for case, ratio in pair.stored.ratios.items() if case in expected]
            return [each.case for each in filter(state.needs_second_day, ratios)]

        found = [pair for pair in pairs if not pair.lacks_python and wanted(pair)]
        failed = [p for p in found if _release_name([p], second_day) in state.attempts.failures]
        others = [pair for pair in found if pair not in failed]
        most = releases.longest_chain(workplace, found)
        chains = releases.release_chains(others, None if second_day else expected, most)
        for chain in [*chains, *([pair] for pair in failed)]:
            cases = {case for pair in chain for case in wanted(pair)}
            yield _release_task(state, chain, cases, second_day=second_day)


def _release_task(
    state: NightState, chain: Sequence[ReleasePair], names: Collection[str], *, second_day: bool
) -> Task:
    """Compare neighbouring releases at once.

    A pair that fails is stored as failed under its own name, and tried alone on another night.
    """
    newest, *older = reversed(releases.oldest_to_newest(chain))
    description = " against ".join([str(newest.release), *(each.version for each in older)])

    def run(tally: Tally) -> None:
        workplace = state.workplace
        print(description, flush=True)
        package = side(workplace, "HEAD")
        listed = suites.list_cases(workplace, [package], EVERYTHING, "time", "memory")
        cases = [case for case in listed if case.name in names]
        failures = []
        try:
            for pair, result in releases.measure_releases(
                workplace, chain, package, cases, again=second_day
            ):
                if isinstance(result, WatchError):
                    failures.append(str(result))
                    if len(chain) > 1:  # else the night stores it under the same name
                        state.attempts.add_failure(_release_name([pair], second_day), str(result))
                else:
                    against = f"with {pair.after.release} against {pair.before.version}"
                    tally.add_failures(result.failures, against)
        finally:
            releases.remove_environments([newest, *older])
        if failures:
            raise WatchError("; ".join(dict.fromkeys(failures)))

    return Task(
        _release_name(chain, second_day),
        description,
        "one-day change" if second_day else "release without comparison",
        None,
        run,
    )


def _release_name(chain: Sequence[ReleasePair], second_day: bool) -> str:
    oldest, *later = releases.oldest_to_newest(chain)
    kind = "second day of releases" if second_day else "releases"
    return " ".join([kind, str(oldest.release), *(release.version for release in later)])


def _titled(commit: Commit) -> str:
    return f"{commit.hash[:8]} {commit.subject}"
