"""Measures commits in environments."""

import sys
import time
from pathlib import Path

from asv_watch.asv.selection import EVERYTHING, SHORT, matching
from asv_watch.engine.runs import Tally, measure_commit
from asv_watch.engine.workplace import open_workplace
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.machine.budget import Budget, is_spent, parse_duration_s
from asv_watch.options import Cases, Full, Machine, Release, TimeBudget
from asv_watch.publish import publish
from asv_watch.versions.git import ask_git

EARLY_S = 300.0
"""Seconds after which a run shows the cases that are finished; the others follow at its end."""


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
    limit = Budget(parse_duration_s(budget), time.monotonic) if budget else None
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
