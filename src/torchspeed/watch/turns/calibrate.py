"""Measures how noisy this machine is, and what disturbs timing on it.

The timing cases of the short set are measured in several separate runs of one commit, by the same
asv with the same recipe as every night. The runs differ by noise. Then the commit is compared with
itself, interleaved.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from torchspeed.errors import TorchspeedError
from torchspeed.watch.asv.scratch import ScratchProject
from torchspeed.watch.asv.selection import Selection
from torchspeed.watch.asv.settings import Configuration, Pair
from torchspeed.watch.history.calibrations import Calibration, Load, RepeatedComparisons
from torchspeed.watch.history.history import History
from torchspeed.watch.history.outcomes import round_seconds
from torchspeed.watch.machine.conditions import (
    describe_conditions,
    describe_load,
    describe_throttling,
    read_throttling,
)
from torchspeed.watch.machine.load import LoadWatch
from torchspeed.watch.progress import Progress, human_time
from torchspeed.watch.turns.cases import list_cases
from torchspeed.watch.turns.compare import compare
from torchspeed.watch.turns.repeated_comparisons import summarise_repeats
from torchspeed.watch.turns.repeated_runs import compare_runs
from torchspeed.watch.turns.sides import PACKAGES, side

FEWEST_RUNS = 2


def calibrate(
    root: Path,
    configuration: Configuration,
    commit: str,
    pair: Pair,
    machine: str,
    *,
    selection: Selection,
    runs: int,
    comparisons: int,
) -> Calibration:
    """Measure a commit several times and say how far its figures lie apart.

    An interrupt ends the measuring; the runs that are whole by then count, if there are
    two at least. Comparisons count only if all are through.

    Args:
        root: the checkout.
        configuration: of the checkout.
        commit: hash of the commit.
        pair: environment to measure in.
        machine: name under which this machine is registered with asv.
        selection: cases to measure.
        runs: how many.
        comparisons: how many, with itself after the runs; 0 for none.

    Raises:
        TorchspeedError: too few runs were asked for, no case has a figure in every run, or
            asv failed as a whole.
        KeyboardInterrupt: before two runs were whole.
    """
    if runs < FEWEST_RUNS:
        raise TorchspeedError(
            f"{runs} runs have nothing to compare; ask for {FEWEST_RUNS} or more"
        )
    if comparisons < 0:
        raise TorchspeedError(f"{comparisons} comparisons cannot be made; ask for 0 or more")
    folder = root / ".asv" / "calibration"
    shutil.rmtree(folder, ignore_errors=True)
    watch, throttling = LoadWatch(), read_throttling()
    started = time.monotonic()
    seconds = round_seconds(configuration.results / machine)
    measured: list[History] = []
    load, took = watch.load(), 0.0
    for number in range(1, runs + 1):
        try:
            print(f"run {number} of {runs} of {commit[:8]} with {pair}, on {machine}", flush=True)
            project = ScratchProject(folder / f"run-{number}", root)
            progress = Progress(seconds, again=runs - number)
            project.measure(commit, pair, machine, selection, progress)
            measured.append(project.history(commit))
        except KeyboardInterrupt:
            if len(measured) < FEWEST_RUNS:
                raise
            print(f"\ninterrupted: {len(measured)} whole runs count", flush=True)
            comparisons = 0
            break
        seconds |= round_seconds(project.results / machine)
        load, took = watch.load(), time.monotonic() - started
        progress.say(f"  done, {human_time(took)} so far")
    repeated = compare_runs(measured)
    if not repeated.cases:
        what = (
            repeated.without_value[0] if repeated.without_value else "no case that times something"
        )
        raise TorchspeedError(
            f"no case has a figure in every run ({what}); try `make bench`, which says why"
        )
    interleaved = None
    if comparisons:
        try:
            interleaved = _compare_with_itself(
                root, configuration, commit, pair, machine, selection, comparisons
            )
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
        load=_rounded(load),
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


def _compare_with_itself(
    root: Path,
    configuration: Configuration,
    commit: str,
    pair: Pair,
    machine: str,
    selection: Selection,
    comparisons: int,
) -> RepeatedComparisons | None:
    """Compare the commit with itself, interleaved."""
    packages = root / PACKAGES
    version = side(root, configuration, commit, pair.torch, packages)
    cases = list_cases(root, [pair], machine, selection, commit)
    started = time.monotonic()
    repeats = []
    for number in range(1, comparisons + 1):
        print(f"comparison {number} of {comparisons} of {commit[:8]} with itself", flush=True)
        repeats.append(compare(configuration, (version, version), machine, cases).ratios)
    return summarise_repeats(time.monotonic() - started, repeats)


def _rounded(load: Load) -> Load:
    return Load(round(load.before, 2), round(load.others, 3), round(load.stolen, 4))
