"""Measures how noisy this machine is, and keeps that for the site.

The timing cases of the short set are measured in several separate runs of one commit, by the same
asv with the same recipe as every night. The runs differ by noise. Then the commit is compared with
itself, interleaved.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from asv_watch.asv.scratch import ScratchProject
from asv_watch.asv.selection import SHORT, Selection, matching
from asv_watch.calibrate.repeated_comparisons import summarise_repeats
from asv_watch.calibrate.repeated_runs import compare_runs
from asv_watch.calibrate.report import report
from asv_watch.checkout.workplace import Workplace, open_workplace
from asv_watch.compare.measure import compare
from asv_watch.errors import WatchError
from asv_watch.interleave.cases import list_cases
from asv_watch.interleave.sides import side
from asv_watch.machine.conditions import (
    describe_conditions,
    describe_load,
    describe_throttling,
    read_throttling,
)
from asv_watch.machine.load import LoadWatch
from asv_watch.progress import Progress, human_time
from asv_watch.records.calibrations import (
    FILE_NAME,
    Calibration,
    Load,
    RepeatedComparisons,
)
from asv_watch.records.git import ask_git
from asv_watch.records.history import History
from asv_watch.records.json_lines import append_lines
from asv_watch.records.outcomes import round_seconds

_FEWEST_RUNS = 2


def calibrate(
    root: Path, *, runs: int, comparisons: int, torch: str, machine: str, cases: str
) -> None:
    """Measure HEAD several times, print what the runs differ by, and store it.

    An interrupt ends the measuring; the runs that are whole by then count, if there are
    two at least. Comparisons count only if all are through.

    Args:
        root: the checkout.
        runs: of HEAD, two at least.
        comparisons: interleaved, of HEAD with itself after the runs; 0 for none.
        torch: a release that asv.conf.json pins, or ``newest``.
        machine: folder of results; the host's name if empty.
        cases: regular expression of cases; the short set if empty.

    Raises:
        WatchError: more than one release was chosen, or no case has a value in every run.
        KeyboardInterrupt: before two runs were whole.
    """
    selection = matching(cases, otherwise=SHORT).only_times()
    if torch == "all":
        raise WatchError("a calibration takes one torch release, not 'all'")
    with open_workplace(root, "calibrate", torch=torch, machine=machine) as place:
        calibration = _measure(place, selection, runs, comparisons)
        path = place.results / FILE_NAME
        append_lines(path, [calibration])
        print(f"\n{report(calibration, place.machine)}\n")
        print(f"kept in {path.relative_to(root)}: the site's Status shows it")


def _measure(place: Workplace, selection: Selection, runs: int, comparisons: int) -> Calibration:
    commit, pair = ask_git(place.root, "rev-parse", "HEAD"), place.pairs[0]
    watch, throttling, started = LoadWatch(), read_throttling(), time.monotonic()
    measured: list[History] = []
    load, took = watch.load(), 0.0
    try:
        for number in range(1, runs + 1):
            print(f"run {number} of {runs} of {commit[:8]} with {pair}, on {place.machine}")
            measured.append(_run(place, commit, selection, number, runs))
            load, took = watch.load(), time.monotonic() - started
            print(f"  done, {human_time(took)} so far", flush=True)
    except KeyboardInterrupt:
        if len(measured) < _FEWEST_RUNS:
            raise
        print(f"\ninterrupted: {len(measured)} whole runs count", flush=True)
        comparisons = 0
    repeated = compare_runs(measured)
    if not repeated.cases:
        what = (*repeated.without_value, "no case that times something")[0]
        raise WatchError(
            f"no case has a value in every run ({what}); try `make bench`, which says why"
        )
    interleaved = None
    if comparisons:
        try:
            interleaved = _compare_with_itself(place, commit, selection, comparisons)
        except KeyboardInterrupt:
            print("\ninterrupted: the runs count, the comparisons do not", flush=True)
        load = watch.load()
    return Calibration(
        at=int(time.time()),
        commit=commit,
        torch=pair.torch,
        torchvision=pair.torchvision,
        runs=len(measured),
        seconds=took,
        load=Load(round(load.before, 2), round(load.others, 3), round(load.stolen, 4)),
        noise=repeated.noise,
        worst=repeated.worst,
        comparisons=repeated.comparisons,
        false_alarms=repeated.false_alarms,
        cases=repeated.cases,
        without_value=repeated.without_value,
        findings=(
            *describe_load(load),
            *describe_throttling(throttling, read_throttling()),
            *describe_conditions(pair.variables),
        ),
        interleaved=interleaved,
    )


def _run(place: Workplace, commit: str, selection: Selection, number: int, runs: int) -> History:
    """Measure the commit once, outside the stored results."""
    folder = place.root / ".asv" / "calibration"
    if number == 1:
        shutil.rmtree(folder, ignore_errors=True)
        seconds = round_seconds(place.results)
    else:
        seconds = round_seconds(folder / f"run-{number - 1}" / "results" / place.machine)
    project = ScratchProject(folder / f"run-{number}", place.root)
    progress = Progress(seconds, again=runs - number)
    project.measure(commit, place.pairs[0], place.machine, selection, progress)
    return project.history(commit)


def _compare_with_itself(
    place: Workplace, commit: str, selection: Selection, comparisons: int
) -> RepeatedComparisons | None:
    """Compare the commit with itself, interleaved."""
    version = side(place, commit, place.pairs[0].torch)
    cases = list_cases(place, place.pairs[:1], selection)
    started = time.monotonic()
    repeats = []
    for number in range(1, comparisons + 1):
        print(f"comparison {number} of {comparisons} of {commit[:8]} with itself", flush=True)
        repeats.append(compare(place, (version, version), cases).ratios)
    return summarise_repeats(time.monotonic() - started, repeats)
