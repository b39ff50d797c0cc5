"""Measures commits in environments."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from asv_watch.asv.selection import EVERYTHING, SHORT, Selection, matching
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.comparison import Outcome
from asv_watch.engine.runs import Outcomes, measure_missing
from asv_watch.engine.workplace import Workplace, open_workplace
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.machine.budget import Budget, is_spent, start_budget
from asv_watch.options import Cases, Full, Machine, Release, TimeBudget
from asv_watch.progress import human_time
from asv_watch.publish import publish
from asv_watch.versions.git import ask_git

EARLY_S = 300.0
"""Seconds after which a run shows the cases that are finished; the others follow at its end."""


@dataclass
class Tally:
    """Outcomes of the cases of a run, counted."""

    counts: dict[str, int] = field(default_factory=dict)
    """Maps an outcome to its number of cases."""
    failures: list[str] = field(default_factory=list)
    """A line for each case that failed or timed out."""

    def add(self, outcomes: Outcomes) -> None:
        """Count the outcomes of one run."""
        for case, (outcome, reason) in outcomes.items():
            self.counts[outcome.value] = self.counts.get(outcome.value, 0) + 1
            if outcome in {Outcome.FAILED, Outcome.TIMED_OUT}:
                last = reason.splitlines()[-1] if reason else "no message"
                self.failures.append(f"{case} {outcome.value}: {last}")

    def add_failures(self, reasons: Mapping[str, str], how: str) -> None:
        """Add the cases that failed in a comparison; ``how`` names it: ``measured again``."""
        self.failures += [f"{case}, {how}, failed: {why}" for case, why in reasons.items()]

    def __str__(self) -> str:
        if not self.counts:
            return "nothing was missing"
        return ", ".join(f"{count} {outcome}" for outcome, count in sorted(self.counts.items()))


def measure_commit(
    workplace: Workplace,
    commit: str,
    environment: EnvironmentSpec,
    selection: Selection,
    *,
    retry_failed: bool,
    budget: Budget | None = None,
    after_each: Callable[[], None] = lambda: None,
) -> Outcomes:
    """Measure the cases that one commit lacks in one environment, until the budget is spent.

    Each time that a case is stored, ``after_each`` is called.

    Returns: Maps each case that ran to its outcome and reason.

    Raises:
        WatchError: asv failed as a whole; results stored before stay.
    """
    subject = ask_git(workplace.configuration.repository, "log", "-1", "--format=%h %s", commit)
    print(f"{subject}\n  with {environment.label}, on {workplace.machine}", flush=True)
    started = time.monotonic()
    outcomes = measure_missing(
        workplace,
        commit,
        environment,
        selection,
        retry_failed=retry_failed,
        budget=budget,
        after_each=after_each,
    )
    done = Tally()
    done.add(outcomes)
    if outcomes or not is_spent(budget):
        print(f"  {done} in {human_time(time.monotonic() - started)}", flush=True)
    return outcomes


def bench(
    *,
    full: Full = False,
    budget: TimeBudget = "",
    cases: Cases = "",
    release: Release = "newest",
    machine: Machine = "",
) -> ExitStatus:
    """Measure the cases that HEAD lacks, failed ones included, and publish the site.

    It is also published once after five minutes, with the cases that are finished by then.

    Raises:
        WatchError: nothing could be measured, or the site could not be written.
    """
    selection = matching(cases, otherwise=EVERYTHING if full else SHORT)
    limit = start_budget(budget)
    publish_at = [time.monotonic() + EARLY_S]

    def publish_early() -> None:
        if publish_at and time.monotonic() > publish_at[0]:
            publish_at.clear()
            publish()

    with open_workplace(Path.cwd(), "bench", release=release, machine=machine) as workplace:
        head = ask_git(workplace.configuration.repository, "rev-parse", "HEAD")
        tally = Tally()
        for environment in workplace.environments:
            if not is_spent(limit):
                outcomes = measure_commit(
                    workplace,
                    head,
                    environment,
                    selection,
                    retry_failed=True,
                    budget=limit,
                    after_each=publish_early,
                )
                tally.add(outcomes)
        if is_spent(limit) and not tally.counts:
            raise WatchError(f"no case was finished in {budget}; run the same again to go on")
        print(tally)
        for failure in tally.failures:
            print(failure, file=sys.stderr)
        publish()
    return ExitStatus.SOME_CASES_FAILED if tally.failures else ExitStatus.DONE
