"""The answer of a gate as JSON: the schema of all commands, and what ``gate-comment`` reads."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from asv_watch.answers import (
    Answer,
    Difference,
    exact_difference,
    measured_difference,
)
from asv_watch.gate.result import CaseState, GateCase, GateResult
from asv_watch.records.comparisons import CaseValues

Outcome = Literal["passed", "failed", "undecided"]


class GateAnswer(Answer, kw_only=True):
    """What a gate found."""

    outcome: Outcome
    """Whether the pull request may be merged."""
    gate: GateResult
    """Every measurement of the gate, for ``gate-comment``."""


def gate_answer(result: GateResult, threshold: float, accepted: str) -> GateAnswer:
    """Describe a result.

    Args:
        result: what was measured.
        threshold: slowdown of a case from which the gate fails (0.03 is 3 %).
        accepted: why slower cases are accepted; empty if they are not.
    """
    outcome: Outcome = "passed" if result.passes(threshold, accepted) else "failed"
    if outcome == "passed" and result.is_undecided(threshold):
        outcome = "undecided"
    return GateAnswer(
        command="gate",
        before=result.base,
        after=result.head,
        differences=[_difference(case, result) for case in result.cases],
        outcome=outcome,
        gate=result,
    )


def _difference(case: GateCase, result: GateResult) -> Difference:
    if case.exact is not None:
        exact = case.exact
        values = CaseValues(
            case=case.case,
            at=0,
            unit=exact.unit,
            exact=True,
            before=exact.before,
            after=exact.after,
            higher_is_better=exact.higher_is_better,
        )
        return exact_difference(values, result.machine)
    if not case.changes or case.failed:
        return Difference(
            case=case.case,
            verdict="not measured",
            reason=case.failed or case.skipped,
            machine=result.machine,
        )
    difference = measured_difference(case.changes[-1], result.machine)
    is_uncertain = result.state(case) is CaseState.NOT_CERTAIN
    return replace(difference, case=case.case, reason="not for certain" if is_uncertain else "")
