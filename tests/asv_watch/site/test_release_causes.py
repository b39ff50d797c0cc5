"""The cause that the view Releases gives of a difference between two releases."""

from __future__ import annotations

from asv_watch.judge.release_findings import release_findings
from asv_watch.judge.release_history import release_histories
from asv_watch.records.explanations import (
    Explanation,
    OperatorDifference,
    StoredExplanation,
)
from asv_watch.site.releases import ShownFinding
from tests.asv_watch.planted_releases import DAY, compared_releases

CASE = "suite.Suite.time_forward('lenet5', 'cpu')"


def _shown(*ratios: float, operator: tuple[float, float]) -> ShownFinding:
    """Show a case that had these ratios, a day each, with a profile of its only operator."""
    days = [
        compared_releases("2.14.1", "2.15.0", {CASE: ratio}, at=1_780_000_000 + day * DAY)
        for day, ratio in enumerate(ratios)
    ]
    [history] = release_histories({"m": days})
    [finding] = release_findings(history.steps[0])
    header = days[0].header
    stored = StoredExplanation(
        case=CASE,
        at=header.at,
        before=header.before,
        after=header.after,
        explanation=Explanation(
            seconds=operator,
            operators=(OperatorDifference("aten::addmm", "[]", (1.0, 1.0), operator, clear=True),),
        ),
    )
    return ShownFinding(finding, "lenet5 forward", stored)


def test_an_operator_that_differs_as_the_case_did_on_the_day_of_the_difference_is_the_cause() -> (
    None
):
    cause = "aten::addmm accounts for 100 % of the difference (10 ms → 13 ms)"
    assert _shown(1.3, operator=(0.01, 0.013)).cause == cause
    assert _shown(1.3, 1.001, operator=(0.01, 0.013)).cause == cause, "a refuted one, too"


def test_an_operator_that_differs_in_the_other_direction_is_not_the_cause() -> None:
    assert _shown(0.8, operator=(0.01, 0.013)).cause == (
        "The profile does not show it: operators differ by +30.0 % together, the case by −20.0 %"
    )
