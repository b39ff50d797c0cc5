"""Measures what is missing of HEAD."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from asv_watch.asv.selection import EVERYTHING, SHORT, Shard, matching
from asv_watch.bench.measure import Tally, measure_commit
from asv_watch.checkout.workplace import open_workplace
from asv_watch.exit_status import ExitStatus
from asv_watch.publish.command import publish
from asv_watch.records.git import ask_git


def bench(
    root: Path, *, release: str, machine: str, cases: str, full: bool, shard: str
) -> ExitStatus:
    """Measure what is missing of HEAD, failed cases included, and publish the site.

    Args:
        root: the checkout.
        release: a release that asv.conf.json pins, ``newest`` or ``all``.
        machine: folder of results; the host's name if empty.
        cases: regular expression of cases; the short set if empty.
        full: an empty ``cases`` means every case.
        shard: the part of these cases to measure, such as ``2/5``; all of them if empty.

    Raises:
        WatchError: nothing could be measured, or the site could not be written.
    """
    selection = matching(cases, otherwise=EVERYTHING if full else SHORT)
    if shard:
        selection = replace(selection, shard=Shard.parse(shard))
    with open_workplace(root, "bench", release=release, machine=machine) as place:
        head = ask_git(place.configuration.repository, "rev-parse", "HEAD")
        tally = Tally()
        for environment in place.environments:
            tally.add(measure_commit(place, head, environment, selection, retry_failed=True))
        print(tally)
        for failure in tally.failures:
            print(failure, file=sys.stderr)
        publish(place.root)
    return ExitStatus.SOME_CASES_FAILED if tally.failures else ExitStatus.DONE
