"""Measures the cases of a gate, group after group, until they are decided."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence

from asv_watch.comparison import Comparison, Outcome
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.processes import Round
from asv_watch.engine.rounds import Sampling, measure_cases
from asv_watch.engine.sides import Side
from asv_watch.gate.certainty import ROUNDS, answer_to, is_certain, judged_ratios
from asv_watch.gate.choice import MOST_TOGETHER, Choice
from asv_watch.gate.result import GateCase, parse_share
from asv_watch.judge.graph import MachineGraphs
from asv_watch.machine.budget import Budget, BudgetSpentError
from asv_watch.progress import time_left
from asv_watch.statistics.stopping import Answer


class GateMeasurement:
    """The cases that a gate measures on both sides."""

    def __init__(
        self,
        sides: tuple[Side, Side],
        threshold: float,
        budget: Budget,
        graphs: MachineGraphs,
    ) -> None:
        """Begin without any case.

        Args:
            sides: base and head.
            threshold: slowdown of a case from which the gate fails (0.03 is 3 %).
            budget: the time that is left.
            graphs: what the machine has compared, which says how precise it is.
        """
        self._sides, self._threshold, self._budget = sides, threshold, budget
        self._graphs = graphs
        self._cases: dict[str, MeasurableCase] = {}
        self._results: dict[str, list[Comparison]] = {}

    def run(
        self,
        order: Choice,
        is_enough: Callable[[Sequence[GateCase]], bool] = lambda cases: False,
    ) -> list[GateCase]:
        """Measure group after group until the results are enough or the time is over.

        A group is finished before another begins, and none begins that would not be finished in
        time. If time is left, slower cases are measured once more, which shows their size.

        Returns:
            Every case; those that were not begun come last.
        """
        started, fitting = time.monotonic(), MOST_TOGETHER
        try:
            with self._budget.enforced():
                while fitting and (group := order.next_group(self._cases, fitting)):
                    print(f"measuring {len(group)} cases, {time_left(self._budget)}", flush=True)
                    self._measure(group)
                    if is_enough(list(map(self._judged, self._cases.values()))):
                        print("the gate fails already: no other case is measured", flush=True)
                        break
                    mean_s = (time.monotonic() - started) / len(self._cases)
                    fitting = int(self._budget.left_s / mean_s)
                self._measure_slower_again()
        except BudgetSpentError:
            print("the time limit is reached", flush=True)
        left = [case for case in order.ranked() if case.name not in self._cases]
        return list(map(self._judged, [*self._cases.values(), *left]))

    def _measure(self, group: Sequence[MeasurableCase]) -> None:
        self._cases |= {case.name: case for case in group}
        self._results |= {case.name: [] for case in group}
        kept: dict[str, list[Round]] = {case.name: [] for case in group}

        def keep(result: Comparison) -> None:
            self._results[result.case] = [result]

        for rounds in ROUNDS:
            undecided = [case for case in group if not self._is_decided(case)]
            if undecided:
                measure_cases(
                    self._sides,
                    undecided,
                    keep,
                    _exactly(rounds),
                    {case.name: list(kept[case.name]) for case in undecided},
                    lambda case, numbers: kept[case.name].append(numbers),
                    self._budget,
                )

    def _is_decided(self, case: MeasurableCase) -> bool:
        results = self._results[case.name]
        if not results:
            return False
        ratios = judged_ratios(results[0], None, self._graphs)
        limit = parse_share(case.threshold) if case.threshold else self._threshold
        return not ratios or answer_to(ratios[0], limit) is not Answer.UNKNOWN

    def _measure_slower_again(self) -> None:
        slower = list(self._slower())
        if slower:
            print("measuring slower cases again, for the size of the change", flush=True)
            measure_cases(
                self._sides,
                slower,
                lambda result: self._results[result.case].append(result),
                _exactly(ROUNDS[0]),
                budget=self._budget,
            )

    def _slower(self) -> Iterator[MeasurableCase]:
        for name, results in self._results.items():
            if len(results) != 1:
                continue
            ratios = judged_ratios(results[0], None, self._graphs)
            if ratios and is_certain(ratios[0]):
                yield self._cases[name]

    def _judged(self, case: MeasurableCase) -> GateCase:
        """Combine the measurements of a case; one that fails on the base is skipped."""
        threshold = parse_share(case.threshold) if case.threshold else None
        results = self._results.get(case.name, ())
        if not results:
            return GateCase(case.name, threshold=threshold)
        first, newest = results[0], results[-1]
        ratios = judged_ratios(first, newest if newest is not first else None, self._graphs)
        skipped = failed = ""
        if newest.ratio(0, 1) is None:
            outcome, reason = newest.why_no_ratio(0, 1)
            if outcome is Outcome.SKIPPED or 0 in newest.failed:
                skipped = newest.failed.get(0, reason)
            else:
                failed = reason
        return GateCase(case.name, ratios, skipped, failed, threshold)


def _exactly(rounds: int) -> Sampling:
    return Sampling(rounds, rounds, half_width=0.0, doubtful_from=math.inf, share_of_difference=0)
