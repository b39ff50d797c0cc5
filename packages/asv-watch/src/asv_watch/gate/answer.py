"""The answer of a gate as JSON, in the schema of all commands."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from asv_watch.answers import (
    UNMEASURED,
    Answer,
    Difference,
    measured_difference,
)
from asv_watch.gate.result import CaseState, GateCase, GateResult

Outcome = Literal["passed", "failed", "undecided"]


class GateAnswer(Answer, kw_only=True):
    """What a gate found."""

    outcome: Outcome
    """Whether the pull request may be merged."""


def gate_answer(result: GateResult, threshold: float) -> GateAnswer:
    """Describe a result.

    Args:
        result: what was measured.
        threshold: slowdown of a case from which the gate fails (0.03 is 3 %).
    """
    outcome: Outcome = "passed" if result.passes(threshold) else "failed"
    if outcome == "passed" and result.is_undecided(threshold):
        outcome = "undecided"
    return GateAnswer(
        command="gate",
        before=result.base,
        after=result.head,
        differences=[case_difference(case, result) for case in result.cases],
        outcome=outcome,
    )


def case_difference(case: GateCase, result: GateResult) -> Difference:
    """Describe a case of a result."""
    if not case.changes or case.failed:
        reason = case.failed or case.skipped
        return Difference(
            case=case.case, verdict=UNMEASURED, reason=reason, machine=result.machine
        )
    difference = measured_difference(case.changes[-1], result.machine)
    is_uncertain = result.state(case) is CaseState.NOT_CERTAIN
    return replace(
        difference,
        case=case.case,
        expected=result.accepted(case),
        reason="not for certain" if is_uncertain else difference.reason,
    )
