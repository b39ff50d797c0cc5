"""The command `nightly`: works through the queue, publishes and reports."""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from asv_watch.asv.chosen import settings_file
from asv_watch.asv.commands import NoCaseError
from asv_watch.asv.selection import SHORT, Selection, matching
from asv_watch.asv.steps import Levels
from asv_watch.bench import Tally
from asv_watch.engine.sides import reference_side
from asv_watch.engine.workplace import Workplace, check_room, open_workplace
from asv_watch.errors import ExitStatus, MachineError, WatchError
from asv_watch.machine.budget import Budget, BudgetSpentError, parse_duration_s
from asv_watch.night.attempts import FILE_NAME, NIGHTS, Attempts
from asv_watch.night.queue import Situation, next_task, since
from asv_watch.night.tasks import INCOMPLETE, SOURCES, UNMEASURED, all_commits
from asv_watch.options import Cases, Machine, Release
from asv_watch.publish import publish
from asv_watch.records.loading import NOT_ON_BRANCH
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


_MANY = 200
"""So many commits take longer than anybody wants to wait, at ten minutes each."""


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
        self._workplace, self._selection, self._part = workplace, selection, part
        root, configuration = workplace.root, workplace.configuration
        self._branch = configuration.branch
        self._failed: dict[str, str] = {}
        """Commits and releases that failed tonight as a whole, and the reasons."""
        self._changing = frozenset(
            commits_changing(configuration.repository, self._branch, configuration.measured_paths)
        )
        """Hashes of the commits that can change a measured value."""
        suites = [
            ask_git(root, "rev-parse", f"HEAD:./{path.relative_to(root)}")
            for path in (configuration.suites, settings_file(root))
        ]
        self._reference: Version | None = None
        if configuration.declared.reference:
            try:
                self._reference = reference_side(workplace).version
            except (MachineError, WatchError) as error:
                self._failed["the reference"] = str(error)
        self._attempts = Attempts(workplace.results, " ".join(suites), time.time)
        self._tally = Tally()
        self._levels = Levels()
        self._situation = self._read_results()
        count = len(self._situation.commits)
        is_first = self._situation.history is None
        if is_first and count > _MANY and not configuration.declared.oldest_commit:
            print(
                f"{count} commits are not measured, the newest first; to leave old ones out, name "
                'a commit, a date or a number as "oldest_commit" in asv.conf.json',
                flush=True,
            )

    def work(self, budget: Budget) -> None:
        """Take the most urgent task, again and again, until nothing is left or time is over."""
        tried: set[str] = set()
        unusable: set[str] = set()
        failed_here = False
        while task := next_task(self._situation, SOURCES, tried, unusable):
            tried.update((task.name, *task.at_once))
            print(f"{task.reason}:", flush=True)
            try:
                check_room(self._workplace.configuration, task.environments)
                with budget.enforced():
                    reason = task.run(self._situation, self._tally)
            except BudgetSpentError:
                print("\nthe time budget is spent; the next night continues here", flush=True)
                self._situation = self._read_results()
                return
            except NoCaseError:
                raise
            except OSError as error:  # a full disk: no commit is to blame, and none will do
                file_name = f"{error.filename}: " if error.filename is not None else ""
                self._failed["measuring"] = f"{file_name}{error.strerror}"
                return
            except MachineError as error:
                self._failed[task.description] = str(error)
                print(f"  failed, but no commit is to blame: {error}", flush=True)
                if failed_here:  # the second in a row: the machine, not a commit
                    print("the night ends: this machine cannot measure now", flush=True)
                    return
                failed_here = True
                if task.environment is not None and not task.environment.folder.is_dir():
                    unusable.add(task.environment.name)
                continue
            except WatchError as error:
                reason = str(error)
                if task.environment is None or task.environment.folder.is_dir():
                    self._fail(task.name, task.description, reason)
                else:  # the environment could not be made: no commit is to blame
                    unusable.add(task.environment.name)
                    self._fail(task.environment.name, task.environment.label, reason)
                self._situation = self._read_results()  # a part of it may be stored
                continue
            failed_here = False
            self._situation = self._read_results()
            if self._situation.needs(task):
                self._fail(
                    task.name, task.description, reason or "some of its cases are not measured"
                )
        print("nothing is left to be done tonight", flush=True)

    def end(self) -> ExitStatus:
        if self._tally.counts:
            print(f"tonight: {self._tally}")
        self._report_remaining()
        for failure in self._tally.failures:
            print(failure, file=sys.stderr)
        for description, reason in self._failed.items():
            print(f"{description} failed: {reason}", file=sys.stderr)
        if any(self._workplace.configuration.results.glob("*/*-*.json")):
            publish()
        else:
            print("nothing was ever measured here, so the site stays as it is")
        failed = self._tally.failures or self._failed
        return ExitStatus.SOME_CASES_FAILED if failed else ExitStatus.DONE

    def _read_results(self) -> Situation:
        configuration = self._workplace.configuration
        commits = read_commits(configuration.repository, self._branch)
        history = None
        with contextlib.suppress(WatchError):  # nothing was ever measured here
            history = self._workplace.load_history(commits)
        return Situation(
            workplace=self._workplace,
            selection=self._selection,
            attempts=self._attempts,
            commits=since(
                configuration.declared.oldest_commit,
                tuple(commit for commit in commits if commit.hash in self._changing),
                configuration.repository,
            ),
            history=history,
            reference=self._reference,
            part=self._part,
            levels=self._levels,
        )

    def _fail(self, name: str, description: str, reason: str) -> None:
        self._attempts.add_failure(name, reason)
        self._failed[description] = reason
        print(f"  failed, going on with the next: {reason}", flush=True)

    def _report_remaining(self) -> None:
        commits = list(filter(self._situation.is_ours, all_commits(self._situation)))
        left = Counter(task.reason for task in commits if self._situation.needs(task))
        print(
            f"{len(commits)} commits and releases: {left[UNMEASURED]} still to be measured, "
            f"{left[INCOMPLETE]} that lack cases"
        )
        history, findings = self._situation.history, self._situation.findings
        left_out = history.left_out if history is not None else ()
        gone = [entry.name[:8] for entry in left_out if entry.reason == NOT_ON_BRANCH]
        if gone:
            print(
                f"{len(gone)} measured commits, such as {gone[0]}, are not on {self._branch} (any "
                "more, if it was rewritten); their results stay stored but are not shown"
            )
        if findings is not None and self._workplace.machine in findings.detectable:
            print(f"smallest detectable change: {findings.detectable[self._workplace.machine]}")
        for environment in self._workplace.environments:
            reachable = self._situation.reachable(environment)
            before = len(self._situation.commits) - len(reachable)
            if before:
                tried = self._attempts.failures
                reason = tried[f"{reachable[0].hash} {environment.name}"].reason
                print(
                    f"{before} commits before {reachable[0].hash[:8]} are not tried with "
                    f"{environment.label}, because this one and one before it failed for the same "
                    f"reason: {reason}"
                )
        tasks = (task for source in (*SOURCES, all_commits) for task in source(self._situation))
        names = {task.name: task.description for task in tasks}
        names |= {
            environment.name: environment.label for environment in self._workplace.environments
        }
        set_aside = {
            names[name]: failures.reason
            for name, failures in self._attempts.failures.items()
            if failures.set_aside and name in names
        }
        for name, reason in set_aside.items():
            print(f"set aside after {NIGHTS} nights: {name}: {reason}")
        if set_aside:
            path = (self._workplace.results / FILE_NAME).relative_to(self._workplace.root)
            print(f"to have these tried again, remove their lines from {path}")
