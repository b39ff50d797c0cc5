"""The rule that decides whether two values differ."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from asv_watch.statistics.rule import (
    MINIMUM_EFFECT,
    NOISE_FACTOR,
    Measurement,
    Verdict,
    judge,
    smallest_difference,
)

VALUES = st.floats(1e-6, 1e9)
NOISES = st.floats(0.0, 0.2)


@given(st.floats(0.3, 3.0), NOISES, NOISES)
def test_a_difference_exceeds_the_least_effect_and_three_times_the_noise(
    ratio: float, noise: float, other: float
) -> None:
    size = abs(math.log(ratio))
    limits = math.log(1.015), 3 * math.sqrt(noise**2 + other**2)
    assume(all(abs(size - limit) > 1e-9 for limit in limits))
    answer = judge(Measurement(1.0, None, noise), Measurement(ratio, None, other))
    assert answer.differs == (size > max(limits))
    if answer.differs:
        assert answer.verdict is (Verdict.WORSE if ratio > 1 else Verdict.BETTER)


@given(VALUES, st.floats(0.3, 3.0), NOISES, NOISES, st.booleans())
def test_in_the_other_order_and_with_the_other_direction_the_answer_is_the_opposite(
    value: float, ratio: float, noise: float, other: float, higher: bool
) -> None:
    before, after = Measurement(value, None, noise), Measurement(value * ratio, None, other)
    answer = judge(before, after, higher_is_better=higher)
    opposite = {
        Verdict.BETTER: Verdict.WORSE,
        Verdict.WORSE: Verdict.BETTER,
        Verdict.SAME: Verdict.SAME,
    }[answer.verdict]
    assert judge(before, after, higher_is_better=not higher).verdict is opposite
    assume(abs(abs(math.log(ratio)) - math.log1p(MINIMUM_EFFECT)) > 1e-9)
    assert judge(after, before, higher_is_better=higher).verdict is opposite


def test_of_an_exact_count_every_change_of_the_least_effect_is_a_difference() -> None:
    assert judge(Measurement(1000, noise=0.0), Measurement(1016, noise=0.0)).differs
    small = judge(Measurement(1000, noise=0.0), Measurement(1014, noise=0.0))
    assert small.verdict is Verdict.SAME
    assert small.reason == "below 1.5%"
    assert judge(Measurement(1000, noise=0.0), Measurement(1000, noise=0.0)).multiple == 0
    assert judge(Measurement(1000, noise=0.0), Measurement(1016, noise=0.0)).multiple == math.inf


@pytest.mark.parametrize("noises", [(None, 0.01), (0.01, None), (None, None)])
def test_without_known_noise_there_is_no_clear_difference(
    noises: tuple[float | None, float | None],
) -> None:
    before, after = (
        Measurement(value, (value, value * 1.001), noise)
        for value, noise in zip((1.0, 2.0), noises, strict=True)
    )
    answer = judge(before, after)
    assert answer.verdict is Verdict.SAME
    assert answer.ratio == 2
    assert answer.multiple is None
    assert "not known" in answer.reason


def test_intervals_that_overlap_hide_a_difference() -> None:
    before = Measurement(1.0, (1.0, 1.06), 0.01)
    assert judge(before, Measurement(1.05, (1.05, 1.07), 0.01)).verdict is Verdict.SAME
    wide = Measurement(1.0, (0.98, 1.1), 0.01)
    assert judge(wide, Measurement(1.06, (1.05, 1.07), 0.01)).verdict is Verdict.SAME
    assert judge(before, Measurement(1.07, (1.065, 1.08), 0.01)).verdict is Verdict.WORSE
    assert judge(before, Measurement(1.05, None, 0.01)).verdict is Verdict.WORSE


def test_values_of_different_recipes_are_not_compared() -> None:
    before = Measurement(1.0, None, 0.01, "rounds=2")
    other = judge(before, Measurement(2.0, None, 0.01, "rounds=3"))
    assert other.verdict is Verdict.SAME
    assert "recipes" in other.reason
    assert judge(before, Measurement(2.0, None, 0.01, "rounds=2")).differs
    assert judge(before, Measurement(2.0, None, 0.01)).differs


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_a_value_that_is_not_positive_has_no_ratio(value: float) -> None:
    for pair in ((value, 1.0), (1.0, value)):
        answer = judge(*(Measurement(each, None, 0.01) for each in pair))
        assert answer.verdict is Verdict.SAME
        assert answer.ratio is None
        assert answer.multiple is None


@given(NOISES)
def test_the_smallest_difference_is_where_the_rule_turns(noise: float) -> None:
    least = smallest_difference(noise)
    of_a_run = noise / math.sqrt(2)
    for factor, expected in ((1 + 1e-6, True), (1 - 1e-6, False)):
        after = Measurement(1 + least * factor, None, of_a_run)
        assert judge(Measurement(1.0, None, of_a_run), after).differs == expected


def test_runs_of_one_commit_are_seldom_called_different_and_large_changes_often() -> None:
    """Normal noise of 1 % between runs: 3 in 1,000 pairs differ by three deviations."""
    rng = np.random.default_rng(20)

    def share(ratio: float) -> float:
        pairs = np.exp(rng.normal(0.0, 0.01, (4000, 2)))
        return float(
            np.mean(
                [
                    judge(Measurement(a, None, 0.01), Measurement(ratio * b, None, 0.01)).differs
                    for a, b in pairs
                ]
            )
        )

    assert share(1.0) < 0.006
    assert share(1.0 + 2 * NOISE_FACTOR * 0.01 * math.sqrt(2)) > 0.99
