"""Compares a commit with itself several times: how noisy this machine is, and what makes it so."""

from __future__ import annotations

import time
from pathlib import Path

from asv_watch.asv.selection import SHORT, matching
from asv_watch.asv.settings import ALL
from asv_watch.calibrate.report import report
from asv_watch.checkout.workplace import open_workplace
from asv_watch.compare.measure import compare
from asv_watch.errors import WatchError
from asv_watch.interleave.cases import list_cases
from asv_watch.interleave.sides import side
from asv_watch.judge.repeated_comparisons import summarise_repeats
from asv_watch.machine.load import LoadWatch
from asv_watch.records.comparisons import read_comparison
from asv_watch.records.git import ask_git


def calibrate(root: Path, *, comparisons: int, release: str, machine: str, cases: str) -> None:
    """Compare HEAD with itself, and print how far the ratios are from 1.

    Each comparison is stored; the site's Status shows the noise of all of them.

    Args:
        root: the checkout.
        comparisons: interleaved, of HEAD with itself.
        release: a release that asv.conf.json pins, or ``newest``.
        machine: folder of results; the host's name if empty.
        cases: regular expression of cases; the short set if empty.

    Raises:
        WatchError: more than one release was chosen, or no case has a ratio in every comparison.
    """
    selection = matching(cases, otherwise=SHORT).only_times()
    if release == ALL:
        raise WatchError("a calibration takes one release, not 'all'")
    with open_workplace(root, "calibrate", release=release, machine=machine) as place:
        watch, started = LoadWatch(), time.monotonic()
        commit = ask_git(place.configuration.repository, "rev-parse", "HEAD")
        version = side(place, commit, place.environments[0].version)
        timed = list_cases(place, place.environments[:1], selection)
        stored = []
        for number in range(1, comparisons + 1):
            print(f"comparison {number} of {comparisons} of {commit[:8]} with itself", flush=True)
            path = compare(place, (version, version), timed).path
            comparison = read_comparison(path)[0] if path else None
            if comparison is not None:
                stored.append(comparison)
        repeated = summarise_repeats(stored)
        if repeated is None:
            raise WatchError("no case has a ratio in every comparison; `asv run` says why")
        print(f"\n{report(repeated, watch.load(), time.monotonic() - started)}")
