"""Gates with rounds that a machine measured: how often a case is called slower, by its true size.

Rounds are drawn from comparisons of a commit with itself, one comparison for each case, either way
round and around its own middle: ten rounds are off 1 by chance. Both sides of a gate are measured
in one sitting, so each case is off its true ratio by what the machine's ratios vary from one
sitting to another. `python -m tests.own_results.simulate_gates` prints the table of
docs/notes/noise.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from asv_watch.comparison import Comparison
from asv_watch.gate.certainty import ROUNDS, answer_to, is_certain, judged_ratios
from asv_watch.gate.result import parse_share
from asv_watch.judge.graph import machine_graphs
from asv_watch.statistics.ratio import middle_of_means
from asv_watch.statistics.stopping import Answer

RESULTS = Path(__file__).parents[2] / "results"
MACHINE = "ci-2core-zen5"
THRESHOLD = parse_share("3%")
CASES = 35
"""Cases of a gate."""


@dataclass
class Calls:
    """What gates said of cases with one true ratio."""

    cases: int
    slower: int = 0
    """Cases that were called slower for certain."""
    failing: int = 0
    """Of these, the ones whose size, which fresh rounds show, reaches the threshold."""
    rounds: int = 0
    """Rounds until cases were decided, of all of them together."""


class GateSimulator:
    """Draws rounds of a machine, and judges them as a gate does."""

    def __init__(self, results: Path, machine: str, seed: int) -> None:
        """Read the comparisons of a commit with itself that the machine stored."""
        self._graphs = machine_graphs(results, machine)
        self._random = np.random.default_rng(seed)
        self._deviations = [
            _deviations(np.diff(np.log(rounds)).ravel())
            for comparison in self._graphs.comparisons
            if comparison.sitting.kind == "null" and comparison.metric == "time"
            if len(rounds := comparison.numbers(0, 1)) > 1
        ]

    def gates(self, count: int, slower: float) -> Calls:
        """Judge the cases of so many gates, each slower by a share (0.03 is 3 %)."""
        calls = Calls(count * CASES)
        for _ in range(calls.cases):
            self._judge(slower, calls)
        return calls

    def _judge(self, slower: float, calls: Calls) -> None:
        between = self._graphs.usual_between("time")
        here = math.log1p(slower) + self._random.normal(0.0, between)
        deviations = self._deviations[self._random.integers(len(self._deviations))]
        deviations = deviations * self._random.choice((-1.0, 1.0))
        ratios = np.exp(here + self._random.choice(deviations, ROUNDS[-1] + ROUNDS[0]))
        for rounds in ROUNDS:
            first = _case(ratios[:rounds])
            [change] = judged_ratios(first, None, self._graphs)
            if answer_to(change, THRESHOLD) is not Answer.UNKNOWN:
                break
        calls.rounds += rounds
        if is_certain(change):
            calls.slower += 1
            shown = judged_ratios(first, _case(ratios[-ROUNDS[0] :]), self._graphs)[-1]
            calls.failing += shown.ratio >= 1 + THRESHOLD


def _deviations(logs: np.ndarray) -> np.ndarray:
    """Return how far rounds are from their middle, which is closer to them than the truth is."""
    return (logs - middle_of_means(logs.tolist())) * math.sqrt(len(logs) / (len(logs) - 1))


def _case(ratios: np.ndarray) -> Comparison:
    rounds = tuple((1.0, float(ratio)) for ratio in ratios)
    return Comparison("s.time_it", 1_790_000_000, rounds=rounds)


def main() -> None:
    """Print a row of the table for each true slowdown."""
    for slower, count in ((0.0, 300), (0.03, 60), (0.05, 60), (0.1, 60)):
        calls = GateSimulator(RESULTS, MACHINE, seed=1).gates(count, slower)
        print(
            f"| {slower:.0%} | {count} | {calls.slower:,} of {calls.cases:,} cases "
            f"({calls.slower / calls.cases:.1%}) | {calls.failing:,} "
            f"| {calls.rounds / calls.cases:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
