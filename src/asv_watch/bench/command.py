"""Measures what is missing of HEAD."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from asv_watch.asv.selection import EVERYTHING, SHORT, Shard, matching
from asv_watch.bench.measure import Tally, measure_commit
from asv_watch.checkout.workplace import open_workplace
from asv_watch.exit_status import ExitStatus
from asv_watch.options import Cases, Full, Machine, Release
from asv_watch.publish.command import publish
from asv_watch.records.git import ask_git


def bench(
    *,
    full: Full = False,
    cases: Cases = "",
    shard: Annotated[
        str,
        typer.Option(
            metavar="K/N", help="Measure only part K of N of the chosen cases, such as 2/5."
        ),
    ] = "",
    release: Release = "newest",
    machine: Machine = "",
) -> ExitStatus:
    """Measure what is missing of HEAD, failed cases included, and publish the site.

    Raises:
        WatchError: nothing could be measured, or the site could not be written.
    """
    selection = matching(cases, otherwise=EVERYTHING if full else SHORT)
    if shard:
        selection = replace(selection, shard=Shard.parse(shard))
    with open_workplace(Path.cwd(), "bench", release=release, machine=machine) as place:
        head = ask_git(place.configuration.repository, "rev-parse", "HEAD")
        tally = Tally()
        for environment in place.environments:
            tally.add(measure_commit(place, head, environment, selection, retry_failed=True))
        print(tally)
        for failure in tally.failures:
            print(failure, file=sys.stderr)
        publish()
    return ExitStatus.SOME_CASES_FAILED if tally.failures else ExitStatus.DONE
