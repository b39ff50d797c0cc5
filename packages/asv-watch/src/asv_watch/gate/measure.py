"""Measures the cases of a gate, group after group, until they are decided."""

import math
import time
from collections.abc import Sequence

from msgspec.structs import replace

from asv_watch.comparison import Comparison, Outcome, Ratio
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.processes import Round
from asv_watch.engine.rounds import Sampling, measure_cases
from asv_watch.engine.sides import Side
from asv_watch.gate.certainty import ROUNDS, answer_to, is_certain, judged_ratios
from asv_watch.gate.choice import MOST_TOGETHER, Choice
from asv_watch.gate.result import GateResult
from asv_watch.judge.graph import MachineGraphs
from asv_watch.machine.budget import Budget, BudgetSpentError
from asv_watch.progress import time_left
from asv_watch.statistics.stopping import Answer


class GateMeasurement:
    """The cases that a gate measures on both sides."""

    def __init__(
        self, sides: tuple[Side, Side], prepared: GateResult, budget: Budget, graphs: MachineGraphs
    ) -> None:
        """Begin without any case.

        Args:
            sides: base and head.
            prepared: the result so far, without any case.
            budget: the time that is left.
            graphs: what the machine has compared, which says how precise it is.
        """
        self._sides, self._prepared = sides, prepared
        self._budget, self._graphs = budget, graphs
        self._cases: dict[str, MeasurableCase] = {}
        self._measured: dict[str, list[Comparison]] = {}

    def run(self, order: Choice) -> GateResult:
        """Measure group after group until the gate fails or the time is over.

        A group is finished before another begins, and none begins that would not be finished in
        time. If time is left, slower cases are measured once more, which shows their size.

        Returns:
            The result with all cases, those that were not begun included.
        """
        started, fitting = time.monotonic(), MOST_TOGETHER
        try:
            with self._budget.enforced():
                while fitting and (group := order.next_group(self._cases, fitting)):
                    print(f"measuring {len(group)} cases, {time_left(self._budget)}", flush=True)
                    self._measure(group)
                    if not self._result().passes():
                        print("the gate fails already: no other case is measured", flush=True)
                        break
                    mean_s = (time.monotonic() - started) / len(self._cases)
                    fitting = int(self._budget.left_s / mean_s)
                self._measure_slower_again()
        except BudgetSpentError:
            print("the time limit is reached", flush=True)
        left = [case.name for case in order.ranked() if case.name not in self._cases]
        return self._result(left)

    def _measure(self, group: Sequence[MeasurableCase]) -> None:
        self._cases |= {case.name: case for case in group}
        kept: dict[str, list[Round]] = {case.name: [] for case in group}
        undecided = list(group)

        def keep(result: Comparison) -> None:
            self._measured[result.case] = [result]

        for rounds in ROUNDS:
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
            undecided = [case for case in undecided if not self._is_decided(case.name)]

    def _is_decided(self, case: str) -> bool:
        if case not in self._measured:
            return False
        ratios, limit = self._ratios(case), self._prepared.limit(case)
        return not ratios or answer_to(ratios[0], limit) is not Answer.UNKNOWN

    def _measure_slower_again(self) -> None:
        slower = [
            self._cases[case]
            for case, measured in self._measured.items()
            if len(measured) == 1 and any(map(is_certain, self._ratios(case)))
        ]
        if slower:
            print("measuring slower cases again, for the size of the change", flush=True)
            measure_cases(
                self._sides,
                slower,
                lambda result: self._measured[result.case].append(result),
                _exactly(ROUNDS[0]),
                budget=self._budget,
            )

    def _ratios(self, case: str) -> tuple[Ratio, ...]:
        return judged_ratios(self._measured.get(case, ()), self._graphs)

    def _result(self, left: Sequence[str] = ()) -> GateResult:
        """Return the result so far; a case that fails on the base is skipped."""
        ratios: dict[str, tuple[Ratio, ...]] = {}
        failed: dict[str, str] = {}
        skipped: dict[str, str] = {}
        for case, measured in self._measured.items():
            newest = measured[-1]
            if found := self._ratios(case):
                ratios[case] = found
            elif 0 in newest.failed:
                skipped[case] = newest.failed[0]
            else:
                outcome, reason = newest.why_no_ratio(0, 1)
                (skipped if outcome is Outcome.SKIPPED else failed)[case] = reason
        begun = [case for case in self._cases if case not in self._measured]
        return replace(
            self._prepared, ratios=ratios, failed=failed, skipped=skipped, left=(*begun, *left)
        )


def _exactly(rounds: int) -> Sampling:
    return Sampling(rounds, rounds, half_width=0.0, doubtful_from=math.inf, share_of_difference=0)
