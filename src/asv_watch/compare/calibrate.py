"""Compares a commit with itself several times: how noisy this machine is.

With ``--planted`` one side is slowed down on purpose, which shows what comparisons here can find.
"""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Annotated

import typer

from asv_watch import quantities
from asv_watch.asv.selection import SHORT, matching
from asv_watch.asv.settings import ALL
from asv_watch.compare import report as compare_report
from asv_watch.compare.measure import compare
from asv_watch.errors import WatchError
from asv_watch.interleave.cases import list_cases
from asv_watch.interleave.sides import side
from asv_watch.judge.precision import RepeatedComparisons, summarise_repeats
from asv_watch.markdown import table
from asv_watch.options import Cases, Machine, Release
from asv_watch.progress import human_time
from asv_watch.records.comparisons import read_comparison
from asv_watch.records.git import ask_git
from asv_watch.workplace import open_workplace


def calibrate(
    *,
    comparisons: Annotated[
        int, typer.Option(min=1, help="Number of interleaved comparisons of HEAD with itself.")
    ] = 3,
    planted: Annotated[
        int,
        typer.Option(
            min=0, metavar="PERCENT", help="Slow one side down by this, to see if that is found."
        ),
    ] = 0,
    cases: Cases = "",
    release: Release = "newest",
    machine: Machine = "",
) -> None:
    """Compare HEAD with itself, and print how far the ratios are from 1.

    Each comparison is stored; the site's view *About the data* shows the noise of all of them.

    Raises:
        WatchError: more than one release was chosen, or no case has a ratio in every comparison.
    """
    selection = matching(cases, otherwise=SHORT)
    if release == ALL:
        raise WatchError("a calibration takes one release, not 'all'")
    with open_workplace(Path.cwd(), "calibrate", release=release, machine=machine) as place:
        started = time.monotonic()
        commit = ask_git(place.configuration.repository, "rev-parse", "HEAD")
        version = side(place, commit, place.environments[0].version)
        slowed = dataclasses.replace(version, planted=planted / 100)
        timed = list_cases(place, [version], selection, "time")
        paths = []
        for number in range(1, comparisons + 1):
            print(f"comparison {number} of {comparisons} of {commit[:8]} with itself", flush=True)
            compared = compare(place, (version, slowed), timed)
            paths.append(compared.path)
            if planted:
                after = f"{slowed.name}, slowed down by {planted} %"
                print(f"\n{compare_report.report(compared, version.name, after)}")
        if planted:
            return
        stored = [read_comparison(path)[0] for path in paths if path is not None]
        repeated = summarise_repeats([each for each in stored if each is not None])
        if repeated is None:
            raise WatchError("no case has a ratio in every comparison; `asv run` says why")
        print(f"\n{report(repeated, time.monotonic() - started)}")


def report(repeated: RepeatedComparisons, seconds: float) -> str:
    """Return the cases, the noisiest first, and all cases together."""
    rows = [
        (
            f"`{case.case}`",
            str(case.rounds),
            *map(quantities.share, (case.noise, case.worst, case.detectable)),
        )
        for case in repeated.cases
    ]
    return "\n\n".join(
        [
            table(("case", "rounds", "noise", "worst", "detectable change"), rows),
            "Noise is the standard deviation of the logarithm of the ratio of the commit to "
            "itself, worst the ratio farthest from 1, and the detectable change the smallest that "
            "such a comparison can show. `pyperf system show` names what spoils timings.",
            f"{quantities.counted(repeated.repeats, 'comparison')} of "
            f"{repeated.newest.after.commit[:8]} with itself on {repeated.newest.machine} in "
            f"{human_time(seconds)}: noise {quantities.share(repeated.noise)}, worst "
            f"{quantities.share(repeated.worst)} of {len(repeated.cases)} cases; "
            f"{repeated.false_alarms} false alarms in "
            f"{repeated.ratios} ratios.",
        ]
    )
