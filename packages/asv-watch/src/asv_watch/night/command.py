"""The command `nightly`: works through what is left to do, publishes and reports."""

import contextlib
import dataclasses
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from asv_watch.asv.conf import settings_file
from asv_watch.asv.selection import SHORT, Selection, matching
from asv_watch.engine.runs import NoCaseError, Tally
from asv_watch.engine.workplace import Workplace, check_room, open_workplace, reference_side
from asv_watch.errors import ExitStatus, MachineError, WatchError, in_words
from asv_watch.machine.budget import Budget, BudgetSpentError, parse_duration_s
from asv_watch.night.state import ATTEMPTS, NIGHTS, Attempts, NightState, since
from asv_watch.night.tasks import Task, due_tasks, left_tasks
from asv_watch.options import Cases, Machine, Release
from asv_watch.publish import publish
from asv_watch.records.history import NOT_ON_BRANCH, History, load_history
from asv_watch.versions.git import ask_git, commits_changing, read_commits
from asv_watch.versions.version import Version


def nightly(
    *,
    budget: Annotated[
        str, typer.Option(metavar="TIME", help="Time for measuring, such as 4h or 90min.")
    ] = "4h",
    part: Annotated[
        str,
        typer.Option(
            metavar="K/N",
            help="Work on part K of N of the commits, so that several machines of one kind share "
            "a history.",
        ),
    ] = "",
    cases: Cases = "",
    release: Release = "all",
    machine: Machine = "",
) -> ExitStatus:
    """Measure what is missing, most urgent first, until the budget is spent; publish.

    A commit or a release that fails does not stop the rest. It is tried again on the next nights,
    and set aside after `NIGHTS`. A fault of the machine, such as a full disk, counts for none of
    them; the second one in a row ends the night.

    Returns:
        `ExitStatus.SOME_CASES_FAILED` where a case, a commit or a release failed tonight.

    Raises:
        WatchError: the checkout is unfit, or the site could not be written.
    """
    selection = matching(cases, otherwise=SHORT)
    budget_s = parse_duration_s(budget)
    parts = parse_part(part or "1/1")
    with open_workplace(Path.cwd(), "nightly", release=release, machine=machine) as workplace:
        if part and not workplace.declared.reference:
            raise WatchError(
                "--part needs a reference, which links the parts of a history, and asv.conf.json "
                'names none; add a line such as "reference": "COMMIT@RELEASE"'
            )
        night = _Night(workplace, selection, parts)
        night.work(Budget(budget_s, time.monotonic))
        return night.end()


def parse_part(text: str) -> tuple[int, int]:
    """Read a part of the commits: ``2/5`` is the second of five.

    Raises:
        WatchError: It is not such a part.
    """
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise WatchError(
            f"--part {text[:100]!r} is not a part of the commits; give one such as 2/5, the "
            "second of five"
        )
    return int(match[1]), int(match[2])


class _Night:
    def __init__(self, workplace: Workplace, selection: Selection, part: tuple[int, int]) -> None:
        self._workplace = workplace
        root, configuration = workplace.root, workplace.configuration
        repository, declared = configuration.repository, configuration.declared
        self._tally = Tally()
        self._commits = read_commits(repository, configuration.branch)
        paths = configuration.measured_paths
        hashes = frozenset(commits_changing(repository, configuration.branch, paths))
        changing = [commit for commit in self._commits if commit.hash in hashes]
        suites = [
            ask_git(root, "rev-parse", f"HEAD:./{path.relative_to(root)}")
            for path in (configuration.suites, settings_file(root))
        ]
        attempts = Attempts(workplace.results, " ".join(suites), time.time)
        reference: Version | None = None
        if declared.reference:
            try:
                reference = reference_side(workplace).version
            except (MachineError, WatchError) as error:
                self._tally.failures.append(f"the reference failed: {error}")
        commits = since(declared.oldest_commit, changing, repository)
        self._state = NightState(
            workplace, selection, attempts, commits, History(), time.time(), reference, part
        )
        self._read_results()

    def work(self, budget: Budget) -> None:
        """Take the most urgent task, again and again, until nothing is left or time is over."""
        failed_here = False
        tonight = self._state.attempts.tonight
        while task := next(due_tasks(self._state), None):
            tonight.add(task.name)
            print(f"{task.reason}:", flush=True)
            try:
                if task.environment is not None:
                    check_room(self._workplace.configuration, (task.environment,))
                self._do(task, budget)
            except BudgetSpentError:
                print("\nthe time budget is spent; the next night continues here", flush=True)
                self._read_results()
                return
            except (MachineError, OSError) as error:
                reason = in_words(error) if isinstance(error, OSError) else str(error)
                self._tally.failures.append(f"{task.description} failed: {reason}")
                print(f"  failed, but no commit is to blame: {reason}", flush=True)
                if failed_here:  # the second in a row: the machine, not a commit
                    print("the night ends: this machine cannot measure now", flush=True)
                    return
                failed_here = True
                if task.environment is not None and not task.environment.folder.is_dir():
                    tonight.add(task.environment.name)
            else:
                failed_here = False
        print("nothing is left to be done tonight", flush=True)

    def _do(self, task: Task, budget: Budget) -> None:
        """Do a task; it counts as failed if it fails as a whole, or is left to do afterwards."""
        try:
            with budget.enforced():
                reason = task.run(self._tally)
        except NoCaseError:
            raise
        except WatchError as error:
            environment = task.environment
            if environment is None or environment.folder.is_dir():
                self._fail(task.name, task.description, str(error))
            else:  # the environment could not be made: no commit is to blame
                self._fail(environment.name, environment.label, str(error))
            self._read_results()  # a part of it may be stored
            return
        self._read_results()
        if any(left.name == task.name for left in left_tasks(self._state)):
            self._fail(task.name, task.description, reason or "some of its cases are not measured")

    def _fail(self, name: str, description: str, reason: str) -> None:
        self._state.attempts.add_failure(name, reason)
        self._tally.failures.append(f"{description} failed: {reason}")
        print(f"  failed, going on with the next: {reason}", flush=True)

    def end(self) -> ExitStatus:
        if self._tally.counts:
            print(f"tonight: {self._tally}")
        self._report_remaining()
        for failure in self._tally.failures:
            print(failure, file=sys.stderr)
        if any(self._workplace.configuration.results.glob("*/*-*.json")):
            publish()
        else:
            print("nothing was ever measured here, so the site stays as it is")
        return ExitStatus.SOME_CASES_FAILED if self._tally.failures else ExitStatus.DONE

    def _read_results(self) -> None:
        configuration = self._workplace.configuration
        with contextlib.suppress(WatchError):  # nothing was ever measured here
            history = load_history(
                configuration.results,
                self._commits,
                self._workplace.machine,
                layout=configuration.declared.layout,
            )
            self._state = dataclasses.replace(self._state, history=history)

    def _report_remaining(self) -> None:
        state, workplace, attempts = self._state, self._workplace, self._state.attempts
        left: Counter[str] = Counter()
        for environment in workplace.environments:
            reachable = state.reachable(environment)
            for commit in (commit for commit in reachable if state.is_ours(commit.hash)):
                left["commits and releases"] += 1
                names = f"{commit.hash} {environment.name}", environment.name
                if not (state.is_complete(commit.hash, environment) or attempts.set_aside(*names)):
                    is_begun = state.is_begun(commit.hash, environment)
                    left["incomplete" if is_begun else "unmeasured"] += 1
            before = len(state.commits) - len(reachable)
            if before:
                reason = attempts.failures[f"{reachable[0].hash} {environment.name}"][-1].failed
                print(
                    f"{before} commits before {reachable[0].hash[:8]} are not tried with "
                    f"{environment.label}, because this one and one before it failed for the same "
                    f"reason: {reason}"
                )
        print(
            f"{left['commits and releases']} commits and releases: {left['unmeasured']} still to "
            f"be measured, {left['incomplete']} that lack cases"
        )
        gone = [
            entry.name[:8] for entry in state.history.left_out if entry.reason == NOT_ON_BRANCH
        ]
        if gone:
            print(
                f"{len(gone)} measured commits, such as {gone[0]}, are not on "
                f"{workplace.configuration.branch} (any more, if it was rewritten); their results "
                "stay stored but are not shown"
            )
        if workplace.machine in state.findings.detectable:
            print(f"smallest detectable change: {state.findings.detectable[workplace.machine]}")
        descriptions = {task.name: task.description for task in left_tasks(state)}
        descriptions |= {each.name: each.label for each in workplace.environments}
        set_aside = list(filter(attempts.set_aside, descriptions))
        for name in set_aside:
            reason = attempts.failures[name][-1].failed
            print(f"set aside after {NIGHTS} nights: {descriptions[name]}: {reason}")
        if set_aside:
            path = (workplace.results / ATTEMPTS).relative_to(workplace.root)
            print(f"to have these tried again, remove their lines from {path}")
