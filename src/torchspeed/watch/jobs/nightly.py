"""Works through the queue of a night: measures, publishes, reports."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from torchspeed.errors import TorchspeedError
from torchspeed.exit_status import ExitStatus
from torchspeed.watch.asv.case_outcomes import NOT_BUILT
from torchspeed.watch.asv.commands import AsvError, NoCaseError
from torchspeed.watch.asv.selection import EVERYTHING, SHORT, Selection, matching
from torchspeed.watch.asv.settings import MEASURED_PATHS
from torchspeed.watch.history.comparisons import Version
from torchspeed.watch.history.git import ask_git, read_commits
from torchspeed.watch.jobs import preflight
from torchspeed.watch.jobs.attempts import FILE_NAME, NIGHTS, Attempts
from torchspeed.watch.jobs.budget import Budget, BudgetSpentError, parse_duration_s
from torchspeed.watch.jobs.confirm import confirm_suspects
from torchspeed.watch.jobs.coverage import Coverage, ReferenceCoverage
from torchspeed.watch.jobs.measuring import Tally, measure_commit
from torchspeed.watch.jobs.night_queue import Situation, Task, next_task
from torchspeed.watch.jobs.publish import publish
from torchspeed.watch.jobs.reference import measure_against_reference, reference_side
from torchspeed.watch.jobs.workplace import open_workplace
from torchspeed.watch.turns.workplace import Workplace


def nightly(
    root: Path,
    *,
    torch: str,
    machine: str,
    cases: str,
    budget: str,
    clock: Callable[[], float] = time.time,
) -> ExitStatus:
    """Measure what is missing, most urgent first, until the budget is spent; publish.

    A commit or a release that fails does not stop the rest. It is tried again on the next nights,
    and set aside after `NIGHTS`.

    Args:
        root: the checkout.
        torch: a release that asv.conf.json pins, ``newest`` or ``all``.
        machine: folder of results; the host's name if empty.
        cases: regular expression of cases; every case if empty.
        budget: time for measuring, such as ``4h``; publishing comes on top.
        clock: seconds since the epoch.

    Returns:
        `ExitStatus.SOME_CASES_FAILED` where a case, a commit or a release failed tonight.

    Raises:
        TorchspeedError: the checkout is unfit, or the site could not be written.
    """
    selection = matching(cases, otherwise=EVERYTHING)
    budget_s = parse_duration_s(budget)
    with open_workplace(root, "nightly", torch=torch, machine=machine) as place:
        night = _Night(place, selection, clock)
        night.begin()
        night.work(Budget(budget_s, clock))
        return night.end()


class _Night:
    """One night: what is tried in it, and how it goes."""

    def __init__(self, place: Workplace, selection: Selection, clock: Callable[[], float]) -> None:
        self._place, self._selection = place, selection
        root, configuration = place.root, place.configuration
        self._branch = configuration.branch
        self._tally = Tally()
        self._failed: dict[str, str] = {}
        """What failed tonight as a whole, a commit or a release, and why."""
        changing = ask_git(root, "rev-list", "--first-parent", self._branch, "--", *MEASURED_PATHS)
        hashes = frozenset(changing.split())
        commits = read_commits(root, self._branch)
        self._commits = tuple(commit for commit in commits if commit.hash in hashes)
        suites = [
            ask_git(root, "rev-parse", f"HEAD:{path.relative_to(root)}")
            for path in (configuration.suites, root / "asv.conf.json")
        ]
        self._reference = self._find_reference()
        self._reference_selection = matching(selection.pattern, otherwise=SHORT).only_times()
        self._attempts = Attempts(place.results, " ".join(suites), clock)
        self._read_results()

    def begin(self) -> None:
        """Report a rewritten branch and note the night."""
        head = ask_git(self._place.root, "rev-parse", self._branch)
        last = self._attempts.last_head
        history = ask_git(self._place.root, "rev-list", self._branch).split()
        if last and last not in history:
            print(
                f"{self._branch} was rewritten: {last[:8]}, its newest commit of the last night, "
                "is not on it any more. Results of such commits stay stored but are not shown; "
                f"every commit that is on {self._branch} now is measured."
            )
        self._attempts.begin_night(head)

    def work(self, budget: Budget) -> None:
        """Take the most urgent task, again and again, until nothing is left or time is over."""
        tried: set[str] = set()
        unusable: set[str] = set()
        while task := next_task(self._situation, tried, unusable):
            tried.add(task.name)
            try:
                with budget.enforced():
                    reason = self._measure(task)
            except BudgetSpentError:
                print("\nthe time budget is spent; the next night continues here", flush=True)
                self._read_results()
                return
            except NoCaseError:
                raise
            except OSError as error:  # a full disk: no commit is to blame, and none will do
                self._failed["measuring"] = f"{error.filename}: {error.strerror}"
                return
            except TorchspeedError as error:
                reason = error.reason if isinstance(error, AsvError) else str(error)
                if task.pair.folder.is_dir():
                    self._fail(task.name, str(task), reason)
                else:  # the environment could not be made: no commit is to blame
                    unusable.add(task.pair.environment)
                    self._fail(task.pair.environment, str(task.pair), reason)
                continue
            self._read_results()
            if self._situation.needs(task):
                self._fail(task.name, str(task), reason or "some of its cases are not measured")
        if self._confirm_changes(budget):
            print("nothing is left to be done tonight", flush=True)

    def end(self) -> ExitStatus:
        """Report, publish, and return the exit status."""
        if self._tally.counts:
            print(f"tonight: {self._tally}")
        self._report_remaining()
        for failure in self._tally.failures:
            print(failure, file=sys.stderr)
        for what, reason in self._failed.items():
            print(f"{what} failed: {reason}", file=sys.stderr)
        if any(self._place.configuration.results.glob("*/*-*.json")):
            publish(self._place.root)
        else:
            print("nothing was ever measured here, so the site stays as it is")
        failed = self._tally.failures or self._failed
        return ExitStatus.SOME_CASES_FAILED if failed else ExitStatus.DONE

    def _find_reference(self) -> Version | None:
        if not self._place.configuration.reference:
            return None
        try:
            return reference_side(self._place).version
        except TorchspeedError as error:
            self._failed["the reference"] = str(error)
            return None

    def _read_results(self) -> None:
        configuration = self._place.configuration
        coverage = Coverage(
            configuration.results, self._commits, self._place.machine, self._selection.pattern
        )
        references = None
        if self._reference is not None:
            references = ReferenceCoverage(
                configuration.results, self._place.machine, self._reference
            )
        self._situation = Situation(
            self._commits, self._place.pairs, coverage, self._attempts, references
        )

    def _measure(self, task: Task) -> str:
        """Do a task; return why it is not done, as far as that is known."""
        print(f"{task.reason}:", flush=True)
        preflight.check_room(self._place.configuration, (task.pair,))
        if task.against_reference:
            self._measure_against_reference(task)
            return ""
        outcomes = measure_commit(
            self._place,
            task.commit.hash,
            task.pair,
            self._selection,
            retry_failed=task.name in self._attempts.failures,
        )
        self._tally.add(outcomes)
        not_built = any(reason == NOT_BUILT for _, reason in outcomes.values())
        return NOT_BUILT if not_built else ""

    def _measure_against_reference(self, task: Task) -> None:
        compared = measure_against_reference(
            self._place, task.commit.hash, task.pair, self._reference_selection
        )
        self._tally.failures += [
            f"{case.case} against the reference failed: {case.failed}"
            for result in compared
            for case in result.unmeasured
            if case.failed
        ]

    def _confirm_changes(self, budget: Budget) -> bool:
        """Measure unconfirmed changes again; return whether there was time for all."""
        if not any(self._place.results.glob("*-*.json")):
            return True
        try:
            with budget.enforced():
                compared = confirm_suspects(self._place)
        except BudgetSpentError:
            print("\nthe time budget is spent; the next night confirms the other changes")
            return False
        except TorchspeedError as error:
            self._failed["the confirmation of changes"] = str(error)
            return True
        self._tally.failures += [
            f"{case.case}, measured again, failed: {case.failed}"
            for result in compared
            for case in result.unmeasured
            if case.failed
        ]
        return True

    def _fail(self, name: str, what: str, reason: str) -> None:
        self._attempts.add_failure(name, reason)
        self._failed[what] = reason
        print(f"  failed, going on with the next: {reason}", flush=True)

    def _report_remaining(self) -> None:
        tasks = list(self._situation.tasks())
        left = sum(map(self._situation.needs, tasks))
        print(f"{len(tasks)} commits and releases, {left} of them still to be measured")
        names = {task.name: str(task) for task in tasks}
        names |= {pair.environment: str(pair) for pair in self._situation.pairs}
        set_aside = {
            names[name]: failures.reason
            for name, failures in self._attempts.failures.items()
            if failures.set_aside and name in names
        }
        for name, reason in set_aside.items():
            print(f"set aside after {NIGHTS} nights: {name}: {reason}")
        if set_aside:
            path = (self._place.results / FILE_NAME).relative_to(self._place.root)
            print(f"to have these tried again, remove their lines from {path}")
