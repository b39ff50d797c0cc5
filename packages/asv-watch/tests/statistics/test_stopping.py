"""The one rule that says whether more rounds are needed, as a person redoes it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.statistics.rule import Answer, answer, is_precise

CHANGE = math.log1p(0.05)


@pytest.mark.parametrize(
    ("difference", "half", "expected"),
    [
        (0.04, 0.024, Answer.DIFFERENT),
        (0.04, 0.026, Answer.UNKNOWN),  # 1.59 times as wide at the smaller error
        (0.01, 0.038, Answer.SAME),
        (0.01, 0.039, Answer.UNKNOWN),  # a change of 5 % is not excluded
        (0.01, 0.001, Answer.SAME),  # too small to count, however certain
        (0.02, 0.015, Answer.UNKNOWN),  # a change by the rule, but not for certain
        (-0.2, 0.02, Answer.SAME),  # it went the other way
        (0.0, 0.0, Answer.SAME),
    ],
)
def test_the_answer_is_that_of_the_rule_by_hand(
    difference: float, half: float, expected: Answer
) -> None:
    assert answer(difference, half, 15, CHANGE, error=0.00015) is expected


@given(st.floats(0, 0.2), st.floats(1e-6, 0.2), st.integers(1, 60), st.floats(0.015, 0.2))
def test_an_interval_of_half_the_change_always_answers(
    difference: float, half: float, freedom: int, change: float
) -> None:
    """At 99 %: this is why half an interval of 1.5 % suffices to decide on a change of 3 %."""
    found = answer(difference, min(half, change / 2 - 1e-9), freedom, change)
    assert found is not Answer.UNKNOWN
    assert (found is Answer.DIFFERENT) == (
        difference >= math.log1p(0.015) and difference > min(half, change / 2 - 1e-9)
    )


def test_half_an_interval_may_be_a_share_of_a_large_difference() -> None:
    assert is_precise(0.0, 0.015, 0.015, 0.1)
    assert not is_precise(0.1, 0.016, 0.015, 0.1)
    assert is_precise(0.9, 0.09, 0.015, 0.1)
