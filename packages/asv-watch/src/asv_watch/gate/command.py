"""Measures a pull request against its merge base."""

import math
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from asv_watch.answers import JsonFile, write_answer
from asv_watch.asv.selection import EVERYTHING, Selection, matching
from asv_watch.asv.settings import Configuration
from asv_watch.comparison import Comparison, Metric, Outcome
from asv_watch.engine import cases as suites
from asv_watch.engine.measuring import MOST_TOGETHER, measure_cases
from asv_watch.engine.processes import Round
from asv_watch.engine.rounds import Sampling
from asv_watch.engine.workplace import Workplace, open_workplace, side
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.files import write_output
from asv_watch.gate.changes import measured_files, read_changes
from asv_watch.gate.choice import SHARE_OF_PROFILING, Choice
from asv_watch.gate.result import (
    ROUNDS,
    GateResult,
    comment,
    is_certain,
    judged_ratios,
    parse_share,
    sentence,
    verdict_line,
)
from asv_watch.judge.graph import machine_graphs
from asv_watch.machine.budget import Budget, BudgetSpentError, parse_duration_s
from asv_watch.options import Machine, Release
from asv_watch.progress import Display, human_time, time_left
from asv_watch.records.notes import FILE_NAME as NOTES
from asv_watch.records.notes import ChangeNote, expected_changes
from asv_watch.text import quantities
from asv_watch.versions.git import ask_git, find_commit, run_git

_LEAST_SHARE_OF_MEASURING = 0.5
"""Share of the time limit that is kept for measuring; the rest is for choosing cases."""
_SHARE_OF_AN_IMPORT = 0.1
"""Share of the time limit that importing a suite may take while the cases are listed."""


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
        str,
        typer.Option(
            metavar="TIME",
            help="Time for all that a gate does, such as 20min; at least half is for measuring, "
            "if building and listing leave that much.",
        ),
    ] = "20min",
    threshold: Annotated[
        str,
        typer.Option(metavar="PERCENT", help="Smallest slowdown of a case that fails the gate."),
    ] = "3%",
    undecided: Annotated[
        Literal["fail", "pass"],
        typer.Option(help="Result of the gate if the time was too short to decide."),
    ] = "fail",
    comment_file: Annotated[
        str,
        typer.Option(
            "--comment", metavar="FILE", help="Write the comment to this file, as Markdown."
        ),
    ] = "",
    json_file: JsonFile = "",
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
        WatchError: a commit does not exist, the commits have no common ancestor, the head's
            notes.toml is damaged, or no case matches the pattern.
    """
    limit_s, share = parse_duration_s(limit), parse_share(threshold)
    budget = Budget(limit_s, time.monotonic)
    selection = matching(cases, otherwise=EVERYTHING)
    with open_workplace(
        Path.cwd(), "gate", release=release, machine=machine, committed=False
    ) as workplace:
        configuration = workplace.configuration
        merge_base, newest = _find_commits(
            configuration.repository, base or configuration.branch, head
        )
        result = GateResult(
            base=merge_base,
            head=newest,
            environment=workplace.environments[0].label,
            machine=workplace.machine,
            pattern=cases,
            threshold=share,
            notes=_expected_changes(configuration, merge_base, newest),
            limit_s=limit_s,
        )
        try:
            with budget.enforced():
                _Gate(workplace, result, budget, release).run(selection)
        except BudgetSpentError:
            print("the limit was reached before anything could be measured", flush=True)
        result.seconds = round(limit_s - budget.left_s, 1)
    print(f"\n{sentence(result)}.\n{verdict_line(result)}")
    if comment_file:
        write_output(Path(comment_file), comment(result).encode())
    write_answer(result.answer(), json_file)
    if result.outcome == "failed":
        return ExitStatus.SLOWER if result.failing() else ExitStatus.SOME_CASES_FAILED
    fails_undecided = result.outcome == "undecided" and undecided == "fail"
    return ExitStatus.UNDECIDED if fails_undecided else ExitStatus.DONE


def _expected_changes(
    configuration: Configuration, base: str, head: str
) -> tuple[ChangeNote, ...]:
    """Return the slowdowns that the head calls expected; none if its repository has no notes."""
    repository = configuration.repository
    path = os.path.relpath(configuration.results / NOTES, repository)
    content = ask_git(repository, "show", f"{head}:./{path}")
    commits = run_git(repository, "rev-list", f"{base}..{head}").split()
    return expected_changes(content.encode(), commits)


def _find_commits(repository: Path, base: str, head: str) -> tuple[str, str]:
    """Find the newest commit that both sides have, and the head."""
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


class _Gate:
    """Both commits of a gate, built; its result gets each case as soon as it is measured."""

    def __init__(
        self, workplace: Workplace, result: GateResult, budget: Budget, release: str
    ) -> None:
        """Build the head and then the base."""
        self._workplace, self._result, self._budget = workplace, result, budget
        display = Display()
        with display.during(f"building the head {result.head[:8]}", budget):
            head = side(workplace, result.head, release)
        with display.during(f"building the base {result.base[:8]}", budget):
            base = side(workplace, result.base, release)
        print(f"base: {base.name}\nhead: {head.name}", flush=True)
        self._sides = base, head
        self._graphs = machine_graphs(workplace.configuration.results, workplace.machine)
        self._first: dict[str, Comparison] = {}

    def run(self, selection: Selection) -> None:
        """Choose cases and measure them.

        Cases that asv.conf.json lets the gate ignore, and suites that cannot be imported on the
        base either, are skipped; cases of a suite that fails on the head alone have failed.
        """
        workplace, result = self._workplace, self._result
        with Display().during("listing the cases", self._budget):
            import_s = _SHARE_OF_AN_IMPORT * result.limit_s
            listing = suites.list_benchmarks(workplace, self._sides, selection.pattern, import_s)
        chosen = suites.choose_cases(listing.benchmarks, selection, workplace.declared)
        ignored = [case for case in chosen if case.ignored and case.is_timed]
        if ignored:
            print(f"{quantities.counted(len(ignored), 'case')} ignored, as asv.conf.json declares")
        wanted = [case for case in chosen if not case.ignored]
        timed = [case for case in wanted if case.is_timed]
        if 0 < len(timed) < len(wanted):
            counted = quantities.counted(len(wanted) - len(timed), "case")
            print(
                f"{counted} left out for measuring no time; `asv-watch compare --values` compares "
                "such cases"
            )
        listed = timed or wanted
        failed = {
            case.name: f"its suite cannot be imported: {error}"
            for suite, error in listing.failures.items()
            for case in listed
            if case.name.startswith(f"{suite}.")
        }
        result.skipped = {
            suite: f"cannot be imported: {listing.failures[suite]}" for suite in listing.left_out
        } | {case.name: f"ignored: {case.ignored}" for case in ignored}
        listed = [case for case in listed if case.name not in failed]
        order = Choice(listed, self._budget)
        if not selection.pattern:
            order = self._touched(listing.benchmarks, listed)
        result.available = len(listed)
        result.thresholds = {c.name: parse_share(c.threshold) for c in listed if c.threshold}
        with order.profiling(self._sides[1]):
            order.profile_for(SHARE_OF_PROFILING * result.limit_s)
            metric: Metric = "time" if all(case.is_timed for case in listed) else "memory"
            between = quantities.share(self._graphs.usual_between[metric])
            source = f"as the comparisons of {workplace.machine} show"
            if not self._graphs.commits:
                source = f"assumed, because {workplace.machine} has no stored comparisons"
            print(f"intervals include a scatter of {between} between hours, {source}", flush=True)
            result.is_prepared = True
            self._measure_all(order)
        result.failed |= failed  # not before, since a gate ends when a measured case has failed

    def _touched(
        self, benchmarks: suites.Benchmarks, listed: Sequence[suites.MeasurableCase]
    ) -> Choice:
        """Choose the cases that a diff may have made slower; none if no measured code changed."""
        result, budget = self._result, self._budget
        ready_s = result.limit_s - budget.left_s
        profiling_s = budget.left_s - _LEAST_SHARE_OF_MEASURING * result.limit_s
        configuration = self._workplace.configuration
        files = measured_files(configuration, result.base, result.head)
        changes = read_changes(configuration.repository, result.base, result.head, files)
        counted = quantities.counted(len(files), "changed file")
        if changes.is_traceable and not changes.functions:
            print(f"{counted}, none of which changes measured code", flush=True)
            return Choice((), budget)
        print(f"{counted}, {quantities.counted(len(listed), 'case')}", flush=True)
        if profiling_s <= 0:
            print(
                f"building and listing took {human_time(ready_s)} of "
                f"{human_time(result.limit_s)}: no case is profiled, those whose text names what "
                "changed are measured first",
                flush=True,
            )
        texts = {str(benchmark["name"]): str(benchmark["code"]) for benchmark in benchmarks}
        return Choice(listed, budget, texts, changes, profiling_s)

    def _measure_all(self, order: Choice) -> None:
        """Measure group after group until the gate fails or the time is over.

        A group is finished before another begins, and none begins that would not be finished in
        time. If time is left, slower cases are measured once more, which shows their size.
        """
        started, fitting = time.monotonic(), MOST_TOGETHER
        begun: dict[str, suites.MeasurableCase] = {}
        try:
            with self._budget.enforced():
                while fitting and (group := order.next_group(begun, fitting)):
                    counted = quantities.counted(len(group), "case")
                    print(f"measuring {counted}, {time_left(self._budget)}", flush=True)
                    begun |= {case.name: case for case in group}
                    self._measure(group)
                    if self._result.outcome == "failed":
                        print("the gate fails already: no other case is measured", flush=True)
                        break
                    mean_s = (time.monotonic() - started) / len(begun)
                    fitting = int(self._budget.left_s / mean_s)
                self._measure_slower_again(begun.values())
        except BudgetSpentError:
            print("the time limit is reached", flush=True)
        chosen = dict.fromkeys([*begun, *(case.name for case in order.ranked())])
        known = set(self._result.cases)
        self._result.left = [case for case in chosen if case not in known]

    def _measure(self, group: Sequence[suites.MeasurableCase]) -> None:
        kept: dict[str, list[Round]] = {case.name: [] for case in group}
        undecided = list(group)
        for rounds in ROUNDS:
            measure_cases(
                self._sides,
                undecided,
                self._add,
                _exactly(rounds),
                kept,
                lambda case, numbers: kept[case.name].append(numbers),
                self._budget,
            )
            undecided = [case for case in undecided if self._result.is_open(case.name)]

    def _measure_slower_again(self, begun: Iterable[suites.MeasurableCase]) -> None:
        ratios = self._result.ratios
        slower = [case for case in begun if any(map(is_certain, ratios.get(case.name, ())))]
        if slower:
            print("measuring slower cases again, for the size of the change", flush=True)
            measure_cases(
                self._sides,
                slower,
                lambda again: self._add(self._first[again.case], again),
                _exactly(ROUNDS[0]),
                budget=self._budget,
            )

    def _add(self, first: Comparison, *again: Comparison) -> None:
        """Add a case to the result; one that fails on the base is skipped."""
        case = first.case
        self._first[case] = first
        if ratios := judged_ratios([first, *again], self._graphs):
            self._result.ratios[case] = ratios
            return
        self._result.ratios.pop(case, None)  # it had some before its last round
        newest = again[0] if again else first
        outcome, reason = newest.why_no_ratio(0, 1)
        if 0 in newest.failed:
            self._result.skipped[case] = newest.failed[0]
        elif outcome is Outcome.SKIPPED:
            self._result.skipped[case] = reason
        else:
            self._result.failed[case] = reason


def _exactly(rounds: int) -> Sampling:
    return Sampling(rounds, rounds, half_width=0.0, doubtful_from=math.inf, share_of_difference=0)
