"""``python -m tools.gate_errors``: how often the gate of pull requests is wrong.

Gates are simulated from the stored comparisons of a commit with itself (kind ``null``) whose
rounds were taken as they are now. Each simulated measurement takes one of these comparisons and
draws for each case rounds from those it stored, with replacement. Half of the rounds, by chance,
are turned around: both sides ran the same commit, so either may be the base. The rounds go through
the code of the real gate (`asv_watch.gate.command.measure`): how many a case gets, its
interval, what is measured again. A gate in which any case is called slower is a *false alarm*.
Then all rounds are slowed down by ``--planted`` percent, and the cases that are called slower by
the gate's threshold or more are counted.

First, without simulation, it takes every pair of stored comparisons as a first and a second
measurement, and counts the pairs in which both call the same case slower.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from asv_watch.asv.settings import EnvironmentSpec, results_folder
from asv_watch.compare.measure import recipe
from asv_watch.gate.command import measure
from asv_watch.gate.result import CaseState, GateResult
from asv_watch.interleave.processes import TimedCase
from asv_watch.interleave.rounds import DEFAULT, Round, measure_interleaved
from asv_watch.interleave.sides import Side
from asv_watch.machine.budget import Budget
from asv_watch.records.comparisons import (
    CaseRatio,
    CaseResult,
    StoredComparison,
    read_comparisons,
)
from asv_watch.statistics.ratio import verdict
from asv_watch.statistics.rule import Verdict

_NO_LIMIT_S = 1e6


@dataclass(frozen=True, slots=True)
class Errors:
    """How often simulated gates were wrong."""

    gates: int
    cases: int
    """Cases of a gate."""
    once: int
    """Gates with a case that the first measurement called slower."""
    alarms: int
    """Gates with a case that is called slower."""
    failed: int
    """Gates with a case that is slower by the threshold, so that the gate fails."""
    slower: int
    """Cases of all gates that are slower by the threshold."""

    def __str__(self) -> str:
        total = self.gates * self.cases
        return (
            f"{self.gates} gates of {self.cases} cases: a case is slower in the first measurement "
            f"in {self.once / self.gates:.1%} of them, in all measurements in "
            f"{self.alarms / self.gates:.2%}, by the threshold in {self.failed / self.gates:.2%}; "
            f"cases slower by the threshold: {self.slower} of {total} ({self.slower / total:.1%})"
        )


def stored_comparisons(results: Path, machine: str) -> list[dict[str, CaseRatio]]:
    """Read each stored comparison of a commit with itself: case to its ratio."""
    wanted = _how_rounds_are_taken(recipe(DEFAULT, forks=True))

    def counts(comparison: StoredComparison) -> bool:
        header = comparison.header
        taken = _how_rounds_are_taken(header.recipe)
        return (header.kind, header.machine, taken) == ("null", machine, wanted)

    return [
        {case.case: case for case in comparison.ratios}
        for comparison in read_comparisons(results)[0]
        if counts(comparison)
    ]


def _how_rounds_are_taken(recipe: dict[str, float | str]) -> dict[str, float | str | None]:
    """Give the part of a recipe that says what a round is, and not how many a case gets."""
    names = ("fewest_samples", "most_samples", "round_s", "estimate", "processes")
    return {name: recipe.get(name) for name in names}


def simulate(
    stored: Sequence[dict[str, CaseRatio]],
    gates: int,
    *,
    planted: float,
    threshold: float,
    seed: int,
) -> Errors:
    """Simulate gates.

    Args:
        stored: comparisons of a commit with itself: case to its ratio.
        gates: how many.
        planted: share by which every case is slowed down.
        threshold: share from which the gate fails.
        seed: of the draws.
    """
    names = sorted(set.intersection(*(set(comparison) for comparison in stored)))
    cases = [TimedCase(name, name, 1.0) for name in names]
    environment = EnvironmentSpec({}, "", Path())
    sides = Side("base", Path(), environment), Side("head", Path(), environment)
    draw = random.Random(seed)  # noqa: S311 - nothing is kept secret
    once = alarms = failed = slower = 0
    with _simulated_rounds(stored, draw, 1 + planted):
        for _ in range(gates):
            measured = measure(sides, Path(), cases, Budget(_NO_LIMIT_S, time.monotonic))
            result = GateResult(
                pull_request=0,
                base="0" * 40,
                head="0" * 40,
                environment="",
                machine="",
                pattern="",
                available=len(cases),
                limit_s=_NO_LIMIT_S,
                seconds=0,
                cases=tuple(measured),
            )
            failing = len(result.failing(threshold))
            once += any(len(case.changes) > 1 for case in measured)
            alarms += bool(result.of_state(CaseState.SLOWER))
            failed += failing > 0
            slower += failing
    return Errors(gates, len(cases), once, alarms, failed, slower)


@contextlib.contextmanager
def _simulated_rounds(
    stored: Sequence[dict[str, CaseRatio]], draw: random.Random, slowdown: float
) -> Iterator[None]:
    """Give each measurement rounds of one stored comparison, in the place of processes."""
    comparison = dict(stored[0])

    def measure_from_one_comparison(*arguments: Any) -> list[CaseResult]:
        nonlocal comparison
        comparison = draw.choice(stored)
        return measure_interleaved(*arguments)

    def measure_round(servers: object, case: TimedCase, first: int) -> Round:
        ratio = draw.choice(comparison[case.name].ratios) ** draw.choice((1, -1)) * slowdown
        return (1.0, 1.0), (ratio, ratio)

    with (
        patch("asv_watch.gate.command.measure_interleaved", measure_from_one_comparison),
        patch("asv_watch.interleave.rounds.measure_round", measure_round),
        patch("asv_watch.interleave.rounds.Server", lambda *_: contextlib.nullcontext()),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate gates of harmless and of slower changes, and print how often they were wrong."""
    parser = argparse.ArgumentParser(prog="python -m tools.gate_errors")
    parser.add_argument("--gates", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument("--planted", type=float, nargs="*", default=[0, 5], help="percent")
    parser.add_argument("--threshold", type=float, default=3.0, help="percent (default: 3)")
    parser.add_argument("--machine", default="ci-2core-zen5")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    stored = stored_comparisons(results_folder(Path.cwd()), options.machine)
    if not stored:
        print(
            f"asv-watch: {options.machine} has no stored comparison of a commit with itself by "
            f"today's recipe; run `python -m tools.sensitivity --machine {options.machine}` there",
            file=sys.stderr,
        )
        return 1
    slower = [
        {name for name, ratio in comparison.items() if verdict(ratio) is Verdict.WORSE}
        for comparison in stored
    ]
    both = [bool(first & second) for first, second in itertools.permutations(slower, 2)]
    print(
        f"{len(stored)} stored comparisons of a commit with itself: a case is slower in "
        f"{sum(map(bool, slower))} of them, the same case in both of {sum(both)} of "
        f"{len(both)} pairs"
    )
    for percent in options.planted:
        threshold = options.threshold / 100
        errors = simulate(
            stored, options.gates, planted=percent / 100, threshold=threshold, seed=options.seed
        )
        print(f"{percent:g} % planted: {errors}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
