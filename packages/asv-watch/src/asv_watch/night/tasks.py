"""The kinds of tasks that a night can do; `asv_watch.night.sources` says which, and when."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from asv_watch.asv.selection import EVERYTHING, Selection
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.bisect import candidates_between, describe_culprit, find_culprits
from asv_watch.compare.measure import compare_missing, measure
from asv_watch.compare.report import differences_of
from asv_watch.comparison import import_case
from asv_watch.engine.cases import find_case, list_cases
from asv_watch.engine.rounds import PRECISE
from asv_watch.engine.runs import Tally, measure_commit
from asv_watch.engine.sides import reference_side, side
from asv_watch.errors import WatchError
from asv_watch.explain import explain_case
from asv_watch.judge.causes import in_words
from asv_watch.night.state import NightState
from asv_watch.releases import measure as releases
from asv_watch.releases.measure import ReleasePair
from asv_watch.text import quantities
from asv_watch.versions.version import Commit

NIGHT_CASES = " night cases"
"""Ends the names of tasks that measure the cases of nights alone, not those of the short set."""


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
    run: Callable[[Tally], str]
    """Does the task, stores each part as soon as it is measured, and counts outcomes and failures.

    It returns why something may be left to do, as far as that is known; else an empty text. It
    raises a `WatchError` if it failed as a whole; the night goes on with the next task.
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


def measure_task(
    state: NightState, commit: Commit, environment: EnvironmentSpec, reason: str, suffix: str = ""
) -> Task:
    """Measure the cases that count of one commit in one environment."""
    name = f"{commit.hash} {environment.name}{suffix}"

    def run(tally: Tally) -> str:
        outcomes = measure_commit(
            state.workplace,
            commit.hash,
            environment,
            state.selection,
            retry_failed=name in state.attempts.failures,
        )
        tally.add(outcomes)
        return ""

    description = f"{_titled(commit)} with {environment.label}"
    return Task(name, description, reason, (environment,), run, commit.hash)


def compare_task(
    state: NightState,
    commit: Commit,
    before: str,
    environment: EnvironmentSpec,
    reason: str,
    suffix: str = "",
) -> Task:
    """Compare a commit with the one measured before it, interleaved, in times and peak memory."""

    def run(tally: Tally) -> str:
        print(_titled(commit), flush=True)
        workplace, version = state.workplace, environment.version
        sides = side(workplace, before, version), side(workplace, commit.hash, version)
        known = state.compared_cases(commit.hash, environment)
        for compared in compare_missing(
            workplace, sides, state.selection, known, "compare", "time", "memory"
        ):
            tally.add_failures(compared.failures, f"against {before[:8]}")
        return ""

    name = f"compare {before}..{commit.hash} {environment.name}{suffix}"
    description = f"{_titled(commit)} against {before[:8]}, {environment.label}"
    return Task(name, description, reason, (environment,), run, commit.hash)


def reference_task(state: NightState, commit: Commit, environment: EnvironmentSpec) -> Task:
    """Measure one commit in one environment, interleaved with the reference."""

    def run(tally: Tally) -> str:
        workplace, release = state.workplace, environment.release
        sides = reference_side(workplace), side(workplace, commit.hash, environment.version)
        known = state.linked_cases(commit.hash, release)
        for compared in compare_missing(
            workplace, sides, state.selection, known, "reference", "time"
        ):
            tally.add_failures(compared.failures, "against the reference")
        return ""

    name = f"{commit.hash} {environment.name} reference"
    description = f"{_titled(commit)} with {environment.label} against the reference"
    return Task(name, description, "missing reference", (environment,), run, commit.hash)


def confirm_task(
    state: NightState,
    commits: tuple[str, str],
    names: Collection[str],
    environment: EnvironmentSpec,
    reason: Literal["one-day change", "suspected change"],
) -> Task:
    """Compare the two commits of changes once more, and print the answer for each."""
    before, after = commits

    def run(tally: Tally) -> str:
        workplace, release = state.workplace, environment.version
        sides = side(workplace, before, release), side(workplace, after, release)
        listed = list_cases(workplace, sides[:1], EVERYTHING, "time", "memory")
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
        return ""

    name = f"{reason} {before}..{after} {environment.name}"
    description = f"changes between {before[:8]} and {after[:8]}, {environment.label}"
    return Task(name, description, reason, (environment,), run)


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
        workplace, version = state.workplace, environment.version
        sides = side(workplace, before, version), side(workplace, after, version)
        case = find_case(workplace, sides[:1], Selection(f"^{re.escape(case_name)}$"))
        if kind == "explain":
            explanation = explain_case(workplace, sides, case)
            layout = workplace.declared.layout
            print(f"  {in_words(explanation, layout=layout)}", flush=True)
            return ""
        candidates = candidates_between(workplace, *sides)
        culprits = find_culprits(workplace, case, candidates)
        for culprit in culprits:
            print(f"  {describe_culprit(workplace.configuration.repository, culprit)}", flush=True)
        narrowed = any(culprit.between + 2 < len(candidates) for culprit in culprits)
        return "" if narrowed else "no commit between the two gave a clear result"

    name = f"{kind} {case_name} {before}..{after} {environment.name}"
    return Task(name, description, "measured change", (environment,), run)


def release_tasks(state: NightState, *, second_day: bool) -> list[Task]:
    """Compare listed releases with their predecessors, on a machine that compared some before.

    Args:
        state: the results so far.
        second_day: compare them again in the cases whose difference one day alone shows; by
            default in those that they lack.
    """
    workplace = state.workplace
    of_releases = workplace.declared.cases_of_releases
    selection = state.selection if state.selection.pattern else of_releases
    tasks = []
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
            tasks.append(_release_task(state, chain, cases, second_day=second_day))
    return tasks


def _release_task(
    state: NightState, chain: Sequence[ReleasePair], names: Collection[str], *, second_day: bool
) -> Task:
    """Compare neighbouring releases at once.

    A pair that fails is stored as failed under its own name, and later tried alone.
    """
    oldest, *later = releases.oldest_to_newest(chain)
    older = [release.version for release in reversed([oldest, *later[:-1]])]
    description = " against ".join([str(later[-1].release), *older])

    def run(tally: Tally) -> str:
        workplace = state.workplace
        print(description, flush=True)
        package = side(workplace, "HEAD")
        listed = list_cases(workplace, [package], EVERYTHING, "time", "memory")
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
            releases.remove_environments([oldest, *later])
        if failures:
            raise WatchError("; ".join(dict.fromkeys(failures)))
        return ""

    return Task(
        _release_name(chain, second_day),
        description,
        "one-day change" if second_day else "release without comparison",
        (oldest, *later),
        run,
        at_once=tuple(_release_name([pair], second_day) for pair in chain),
    )


def _release_name(chain: Sequence[ReleasePair], second_day: bool) -> str:
    oldest, *later = releases.oldest_to_newest(chain)
    kind = "second day of releases" if second_day else "releases"
    return " ".join([kind, str(oldest.release), *(release.version for release in later)])


def _titled(commit: Commit) -> str:
    return f"{commit.hash[:8]} {commit.subject}"
