"""Measures a pull request against its merge base."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from asv_watch.asv.selection import EVERYTHING, matching
from asv_watch.checkout import preflight
from asv_watch.checkout.workplace import open_workplace
from asv_watch.errors import WatchError
from asv_watch.exit_status import ExitStatus
from asv_watch.files import write_whole
from asv_watch.gate.comment import comment, sentence, verdict_line
from asv_watch.gate.result import (
    GateCase,
    GateResult,
    HeadAgainstBase,
    measurements_needed,
    parse_share,
)
from asv_watch.gate.touched import changed_files, touched_cases
from asv_watch.interleave.cases import list_cases
from asv_watch.interleave.processes import TimedCase
from asv_watch.interleave.rounds import DEFAULT, PRECISE, measure_interleaved
from asv_watch.interleave.sides import Side, side
from asv_watch.machine.budget import Budget, BudgetSpentError, parse_duration_s
from asv_watch.records.comparisons import CaseRatio, CaseResult, Unmeasured
from asv_watch.records.git import ask_git
from asv_watch.statistics.ratio import verdict
from asv_watch.statistics.rule import Verdict

_SHARE_OF_FIRST = 0.7
"""Of the time limit, for the first measurement of all cases; the rest is for the slower ones."""
_CASES_TOGETHER = 20
"""Cases that are measured together: of more, some would be finished before others begin."""


def gate(
    root: Path,
    *,
    base: str,
    head: str,
    limit: str,
    threshold: str,
    cases: str,
    override: str,
    comment_file: str,
    json_file: str,
    pull_request: int,
    torch: str,
    machine: str,
) -> ExitStatus:
    """Compare a head commit with its merge base, and say whether it may be merged.

    Args:
        root: the checkout.
        base: branch into which it would be merged.
        head: newest commit of the pull request.
        limit: time for measuring, such as ``20min``.
        threshold: slowdown from which the gate fails, such as ``3%``.
        cases: regular expression of cases; those that the diff touches if empty.
        override: why a slowdown is accepted; empty if it is not.
        comment_file: file for the comment; none if empty.
        json_file: file for the result; none if empty.
        pull_request: its number; 0 if it has none.
        torch: release to measure with.
        machine: name of this machine; the host's if empty.

    Raises:
        WatchError: a commit does not exist, the commits have no common ancestor, or no case
            matches the pattern.
    """
    limit_s, share = parse_duration_s(limit), parse_share(threshold)
    selection = matching(cases, otherwise=EVERYTHING).only_times()
    with open_workplace(root, "gate", torch=torch, machine=machine, committed=False) as place:
        merge_base = _merge_base(root, base, head)
        head_side, base_side = side(place, head, torch), side(place, merge_base, torch)
        assert head_side.version is not None  # noqa: S101 - `_merge_base` refuses a working tree
        preflight.check_room(place.configuration, (head_side.pair,))
        listed = list_cases(place, [head_side.pair], selection, head)
        changed = changed_files(root, merge_base, head_side.version.commit)
        chosen = listed
        if not cases:
            touched = touched_cases(root, place.configuration, changed, listed)
            chosen = [case for case in touched if case.short] or touched
        print(f"base: {base_side.name}\nhead: {head_side.name}")
        print(f"{len(changed)} changed files, {len(chosen)} of {len(listed)} cases", flush=True)
        started = time.monotonic()
        measured = measure((base_side, head_side), place.configuration.suites, chosen, limit_s)
        result = GateResult(
            pull_request=pull_request,
            base=merge_base,
            head=head_side.version.commit,
            environment=head_side.pair.label,
            machine=place.machine,
            pattern=cases,
            available=len(listed),
            limit_s=limit_s,
            seconds=round(time.monotonic() - started, 1),
            cases=tuple(measured),
        )
    if comment_file:
        write_whole(Path(comment_file), comment(result, share, override).encode())
    if json_file:
        write_whole(Path(json_file), msgspec.json.encode(result))
    print(f"\n{sentence(result)}.\n{verdict_line(result, share, override)}")
    if result.passes(share, override):
        return ExitStatus.DONE
    is_slower = bool(result.failing(share)) and not override
    return ExitStatus.SLOWER if is_slower else ExitStatus.SOME_CASES_FAILED


def measure(
    sides: tuple[Side, Side], suites: Path, cases: Sequence[TimedCase], limit_s: float
) -> list[GateCase]:
    """Measure cases, and again those that were slower, until the time is over.

    A case that any measurement does not call slower is measured no further. A case that is
    called slower by chance is rarely called slower again, so the answer holds for all cases
    together
    (`asv_watch.gate.result.measurements_needed`).

    Args:
        sides: merge base and head.
        suites: folder of the suites.
        cases: what to measure.
        limit_s: seconds for all of it; 70 % of them for the first measurement.

    Returns:
        Every case, in the order given.
    """
    first = Budget(limit_s * _SHARE_OF_FIRST, time.monotonic)
    whole = Budget(limit_s, time.monotonic)
    results: dict[str, list[CaseResult]] = {case.name: [] for case in cases}
    for number in range(measurements_needed(len(cases))):
        wanted = [
            case
            for case in cases
            if len(results[case.name]) == number and all(map(_is_slower, results[case.name]))
        ]
        for begin in range(0, len(wanted), _CASES_TOGETHER):
            together = wanted[begin : begin + _CASES_TOGETHER]
            try:
                with (whole if number else first).enforced():
                    measure_interleaved(
                        sides,
                        suites,
                        together,
                        lambda result: results[result.case].append(result),
                        PRECISE if number else DEFAULT,
                    )
            except BudgetSpentError:
                print("the time is over", flush=True)
                break
    return [_gate_case(case.name, results[case.name]) for case in cases]


def _is_slower(result: CaseResult) -> bool:
    return isinstance(result, CaseRatio) and verdict(result) is Verdict.WORSE


def _gate_case(name: str, results: Sequence[CaseResult]) -> GateCase:
    """Put the measurements of a case together; what fails on the base cannot be compared."""
    ratios = [result for result in results if isinstance(result, CaseRatio)]
    skipped = failed = ""
    for result in results:
        if isinstance(result, Unmeasured):
            skipped = (result.failed if result.failed_before else result.skipped)[:2000]
            failed = "" if result.failed_before else result.failed[:2000]
    return GateCase(name, tuple(map(HeadAgainstBase.of, ratios)), skipped, failed)


def _merge_base(root: Path, base: str, head: str) -> str:
    """Find the newest commit that both sides have.

    Raises:
        WatchError: a side is no commit, or they have none in common.
    """
    commits = []
    for name in (base, head):
        revision = f"{name}^{{commit}}"
        commit = ask_git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", revision)
        if not commit:
            raise WatchError(
                f"{name!r} is no commit, tag or branch of this repository; fetch it first, such "
                "as `git fetch origin main`"
            )
        commits.append(commit)
    merge_base = ask_git(root, "merge-base", *commits)
    if not merge_base:
        raise WatchError(f"{base} and {head} have no commit in common; check both names")
    return merge_base
