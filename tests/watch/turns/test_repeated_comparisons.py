"""A commit compared with itself: the noise, and the smallest slowdown that is found."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchspeed.watch.analysis.rule import Verdict
from torchspeed.watch.turns.ratio import compare_sides
from torchspeed.watch.turns.repeated_comparisons import compare_alike

ROUNDS = st.lists(st.floats(0.9, 1.1), min_size=5, max_size=5)


def test_noise_and_worst_are_those_of_all_comparisons_about_one() -> None:
    comparisons = [[[1.02] * 3], [[0.99] * 3], [[1.0] * 3]]
    found = compare_alike(60.0, ["x"], comparisons)
    [case] = found.cases
    logs = [math.log(ratio) for ratio in (1.02, 0.99, 1.0)]
    assert case.noise == found.noise == pytest.approx(math.sqrt(sum(v * v for v in logs) / 3))
    assert case.worst == found.worst == pytest.approx(0.02)
    assert (case.rounds, found.repeats, found.ratios) == (3, 3, 3)
    assert found.false_alarms == 1  # 2 % in every round: sure, and above 1.5 %


@given(ROUNDS, ROUNDS)
def test_the_smallest_change_seen_is_found_on_either_side_and_no_smaller_one(
    ratios: list[float], others: list[float]
) -> None:
    cases = [ratios, others]
    found = compare_alike(1.0, ["x", "y"], [cases]).cases[0]

    def seen(slowdown: float) -> bool:
        """By the rules themselves, with the later side slowed, and then the earlier."""
        later = [ratio * (1 + slowdown) for ratio in ratios]
        earlier = [1 / ratio * (1 + slowdown) for ratio in ratios]
        back = [1 / ratio for ratio in others]
        return all(
            compare_sides([mine, beside])[0].verdict is Verdict.WORSE
            for mine, beside in ((later, others), (earlier, back))
        )

    assert seen(found.sees + 1e-6)
    assert not seen(found.sees - 1e-6)


def test_nothing_to_compare_is_refused() -> None:
    for cases, comparisons in (([], [[]]), (["x"], [])):
        with pytest.raises(ValueError, match="nothing was compared"):
            compare_alike(1.0, cases, comparisons)
