"""Measures a pull request against its merge base."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from msgspec.structs import replace

from asv_watch import quantities
from asv_watch.asv.declared import Declared
from asv_watch.asv.selection import EVERYTHING, Selection, matching
from asv_watch.engine.cases import (
    Benchmarks,
    MeasurableCase,
    choose_cases,
    list_benchmarks,
)
from asv_watch.engine.rounds import DEFAULT, PRECISE, measure_cases
from asv_watch.engine.sides import Side, side
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.files import write_whole
from asv_watch.gate.changes import measured_files, read_changes
from asv_watch.gate.comment import comment, sentence, verdict_line
from asv_watch.gate.ranking import one_of_each_first, profile, rank
from asv_watch.gate.result import (
    MEASUREMENTS,
    ExactValues,
    GateCase,
    GateResult,
    parse_share,
    verdict_of,
)
from asv_watch.machine.budget import Budget, BudgetSpentError, parse_duration_s
from asv_watch.options import Machine, Release, Threshold, Undecided
from asv_watch.records.comparisons import CaseRatio, CaseResult, CaseValues, Unmeasured
from asv_watch.records.git import ask_git, find_commit
from asv_watch.statistics.rule import Verdict
from asv_watch.workplace import Workplace, check_room, open_workplace

_FIRST_TOGETHER = 5
"""Most cases that are measured together at first, those that run what was changed if any is known
to: how many more fit into the time is known once they are finished."""
_MOST_TOGETHER = 20
_UNDECIDED = {"fail": ExitStatus.UNDECIDED, "pass": ExitStatus.DONE}
_SHARE_OF_PROFILE = 0.2
"""Share of the time limit that profiling the cases may take."""


def gate(
    *,
    base: Annotated[
        str,
        typer.Option(
            metavar="COMMIT",
            help="Branch that the pull request goes into; by default the first of asv.conf.json.",
        ),
    ] = "",
    head: Annotated[
        str, typer.Option(metavar="COMMIT", help="Newest commit of the pull request.")
    ] = "HEAD",
    limit: Annotated[
        str, typer.Option(metavar="TIME", help="Time for building and measuring, such as 20min.")
    ] = "20min",
    threshold: Threshold = "3%",
    override: Annotated[
        str, typer.Option(metavar="REASON", help="Accept slower cases for this reason.")
    ] = "",
    undecided: Undecided = "fail",
    comment_file: Annotated[
        str,
        typer.Option(
            "--comment", metavar="FILE", help="Write the comment to this file, as Markdown."
        ),
    ] = "",
    json_file: Annotated[
        str,
        typer.Option(
            "--json", metavar="FILE", help="Write the result to this file, for gate-comment."
        ),
    ] = "",
    pull_request: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", min=0, help="Number of the pull request, for gate-comment."
        ),
    ] = 0,
    cases: Annotated[
        str,
        typer.Option(
            metavar="PATTERN",
            help="Measure the cases that match, not those that the diff touches.",
        ),
    ] = "",
    release: Release = "newest",
    machine: Machine = "",
) -> ExitStatus:
    """Compare a head commit with its merge base, and say whether it may be merged.

    Raises:
        WatchError: a commit does not exist, the commits have no common ancestor, or no case
            matches the pattern.
    """
    limit_s, share = parse_duration_s(limit), parse_share(threshold)
    started = time.monotonic()
    budget = Budget(limit_s, time.monotonic)
    selection = matching(cases, otherwise=EVERYTHING)
    with open_workplace(
        Path.cwd(), "gate", release=release, machine=machine, committed=False
    ) as place:
        configuration = place.configuration
        merge_base, newest = _find_commits(
            configuration.repository, base or configuration.branch, head
        )
        listed: Sequence[MeasurableCase] = []
        result = GateResult(
            pull_request=pull_request,
            base=merge_base,
            head=newest,
            environment=place.environments[0].label,
            machine=place.machine,
            pattern=cases,
            available=0,
            limit_s=limit_s,
            seconds=0.0,
            cases=(),
            is_prepared=False,
        )
        try:
            with budget.enforced():
                head_side = side(place, newest, release)
                check_room(configuration, (head_side.environment,))
                base_side = side(place, merge_base, release)
                benchmarks = list_benchmarks(place, [head_side], cases)
                listed = _list_cases(benchmarks, selection, place.declared)
                print(f"base: {base_side.name}\nhead: {head_side.name}")
                chosen, near = listed, _FIRST_TOGETHER
                if not cases:
                    chosen, near = _nearest(
                        place,
                        (merge_base, newest),
                        head_side,
                        benchmarks,
                        listed,
                        limit_s * _SHARE_OF_PROFILE,
                    )
                result = replace(result, is_prepared=True)
        except BudgetSpentError:
            print("the time was over before anything could be measured", flush=True)
        else:
            measured = measure(
                (base_side, head_side),
                chosen,
                budget,
                near,
                lambda cases: not replace(result, cases=tuple(cases)).passes(share, override),
            )
            result = replace(result, cases=tuple(measured))
        result = replace(
            result, available=len(listed), seconds=round(time.monotonic() - started, 1)
        )
    if comment_file:
        write_whole(Path(comment_file), comment(result, share, override).encode())
    if json_file:
        write_whole(Path(json_file), msgspec.json.encode(result))
    print(f"\n{sentence(result, share)}.\n{verdict_line(result, share, override)}")
    if result.passes(share, override):
        return _UNDECIDED[undecided] if result.is_undecided(share) else ExitStatus.DONE
    is_slower = bool(result.failing(share)) and not override
    return ExitStatus.SLOWER if is_slower else ExitStatus.SOME_CASES_FAILED


def _list_cases(
    benchmarks: Benchmarks, selection: Selection, declared: Declared
) -> Sequence[MeasurableCase]:
    """List the selected cases that time something, or else those of memory and tracked values.

    Raises:
        WatchError: there is none.
    """
    chosen = choose_cases(benchmarks, selection, declared)
    timed = [case for case in chosen if case.is_timed]
    others = len(chosen) - len(timed)
    if timed and others:
        print(
            f"{others} cases that time nothing are left out; "
            "`asv-watch compare --values` compares them"
        )
    return timed or chosen


def _nearest(
    place: Workplace,
    commits: tuple[str, str],
    head_side: Side,
    benchmarks: Benchmarks,
    listed: Sequence[MeasurableCase],
    limit_s: float,
) -> tuple[Sequence[MeasurableCase], int]:
    """Choose the cases that a diff can have made slower, the nearest first.

    Returns:
        The cases, and how many of them to measure first.
    """
    configuration = place.configuration
    changed = measured_files(configuration, *commits)
    changes = read_changes(configuration.repository, *commits, changed)
    files = quantities.counted(len(changed), "changed file")
    if changes.is_traceable and not changes.functions:
        print(f"{files}, none of which changes measured code")
        return [], 0
    timed = [case for case in listed if case.is_timed]
    timed = [case for case in timed if case.short] or timed
    shares = {}
    if changes.functions and timed:
        print(f"looking at what {quantities.counted(len(timed), 'case')} run", flush=True)
        shares = profile(head_side, one_of_each_first(timed), changes, limit_s)
    texts = {str(benchmark["name"]): str(benchmark["code"]) for benchmark in benchmarks}
    chosen = rank(timed or listed, shares, texts, changes)
    print(f"{files}, {len(chosen)} of {len(listed)} cases; the nearest:")
    nearest = chosen[:_FIRST_TOGETHER]
    for case in nearest:
        part = shares.get(case.identity)
        note = f" (changed functions: {quantities.share(part)})" if part else ""
        print(f"  {case.name}{note}", flush=True)
    return chosen, sum(bool(shares.get(case.identity)) for case in nearest) or len(nearest)


def measure(
    sides: tuple[Side, Side],
    cases: Sequence[MeasurableCase],
    budget: Budget,
    first: int = _FIRST_TOGETHER,
    is_enough: Callable[[Sequence[GateCase]], bool] = lambda cases: False,
) -> list[GateCase]:
    """Measure cases, then the slower ones again, until these are enough or the time is over.

    The first few are finished before others begin, and none begins that would not be finished in
    time. A case is finished as soon as one measurement does not call it slower. A case that is
    called slower by chance is rarely called slower again, so the answer holds for all cases
    together.

    Returns:
        Every case, in the order given.
    """
    results: dict[str, list[CaseResult]] = {case.name: [] for case in cases}

    def gate_cases() -> list[GateCase]:
        return [_gate_case(*of_case) for of_case in results.items()]

    waiting = list(cases)
    count, started = first, time.monotonic()
    try:
        with budget.enforced():
            while waiting and count:
                together, waiting = waiting[:count], waiting[count:]
                for number in range(MEASUREMENTS):
                    wanted = [case for case in together if _is_open(results[case.name], number)]
                    if wanted:
                        measure_cases(
                            sides,
                            wanted,
                            lambda result: results[result.case].append(result.between(0, 1)),
                            PRECISE if number else DEFAULT,
                        )
                if waiting and is_enough(gate_cases()):
                    print("the gate fails already: the other cases are not measured", flush=True)
                    break
                mean_s = (time.monotonic() - started) / (len(cases) - len(waiting))
                count = min(_MOST_TOGETHER, int(budget.left_s / mean_s))
    except BudgetSpentError:
        print("the time is over", flush=True)
    return gate_cases()


def _is_open(results: Sequence[CaseResult], number: int) -> bool:
    """Tell whether a case was slower in each of so many measurements."""
    return len(results) == number and all(
        isinstance(result, CaseRatio) and verdict_of(result) is Verdict.WORSE for result in results
    )


def _gate_case(name: str, results: Sequence[CaseResult]) -> GateCase:
    """Put the measurements of a case together; what fails on the base cannot be compared."""
    ratios = [result for result in results if isinstance(result, CaseRatio)]
    exact = None
    skipped = failed = ""
    for result in results:
        if isinstance(result, CaseValues):
            before, after = result.before, result.after
            if result.exact and isinstance(before, float) and isinstance(after, float):
                exact = ExactValues(before, after, result.unit)
            else:
                skipped = "values of zero or below have no ratio"
        if isinstance(result, Unmeasured):
            skipped = (result.failed if result.failed_before else result.skipped)[:2000]
            failed = "" if result.failed_before else result.failed[:2000]
    return GateCase(name, tuple(ratios), exact, skipped, failed)


def _find_commits(repository: Path, base: str, head: str) -> tuple[str, str]:
    """Find the newest commit that both sides have, and the head.

    Raises:
        WatchError: a side is not a commit, or they have none in common.
    """
    commits = []
    for name in (base, head):
        commit = find_commit(repository, name)
        if not commit:
            raise WatchError(
                f"{name!r} is not a commit, tag or branch of {repository}; fetch it first, such "
                "as `git fetch origin main`"
            )
        commits.append(commit)
    merge_base = ask_git(repository, "merge-base", *commits)
    if not merge_base:
        raise WatchError(f"{base} and {head} have no commit in common; check both names")
    return merge_base, commits[1]
