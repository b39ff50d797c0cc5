"""Ratios of sides that took turns: what moves them, what does not, and how sure they are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from torchspeed.watch.analysis.rule import Verdict
from torchspeed.watch.turns.ratio import (
    compare_sides,
    half_width,
    ratio_of_round,
    ratio_of_rounds,
    spread_of_rounds,
)

SAMPLES = st.floats(1e-6, 1e3)
TURNS = st.lists(st.tuples(SAMPLES, SAMPLES, SAMPLES, SAMPLES), min_size=1, max_size=9)
RATIOS = st.lists(st.floats(0.5, 2.0), min_size=2, max_size=12)


def _sides(turns: list[tuple[float, float, float, float]]) -> tuple[list[float], list[float]]:
    """A B B A, as it was measured, to the samples of A and of B."""
    return [s for a, _, _, d in turns for s in (a, d)], [s for _, b, c, _ in turns for s in (b, c)]


@given(TURNS, st.floats(1e-3, 1e3))
def test_a_rounds_ratio_knows_no_unit_and_turns_over_with_the_sides(
    turns: list[tuple[float, float, float, float]], factor: float
) -> None:
    before, after = _sides(turns)
    ratio = ratio_of_round(before, after)
    assert ratio_of_round([s * factor for s in before], [s * factor for s in after]) == (
        pytest.approx(ratio)
    )
    assert ratio_of_round(before, [s * factor for s in after]) == pytest.approx(ratio * factor)
    if len(turns) % 2:  # of an even number the middle is a mean, which does not turn over
        assert ratio_of_round(after, before) == pytest.approx(1 / ratio)


@given(st.floats(0.5, 2.0), st.lists(st.floats(0.1, 10.0), min_size=1, max_size=15))
def test_what_meets_both_sides_of_a_turn_alike_does_not_move_it(
    ratio: float, slow: list[float]
) -> None:
    turns = [(speed, speed * ratio, speed * ratio, speed) for speed in slow]
    assert ratio_of_round(*_sides(turns)) == pytest.approx(ratio)


def test_a_drift_within_a_turn_cancels_out_and_a_spike_is_overruled() -> None:
    drifting = [(1.0 + 4 * t, 1.1 * (2 + 4 * t), 1.1 * (3 + 4 * t), 4.0 + 4 * t) for t in range(5)]
    assert ratio_of_round(*_sides(drifting)) == pytest.approx(1.1)
    drifting[2] = (1.0, 50.0, 50.0, 1.0)
    assert ratio_of_round(*_sides(drifting)) == pytest.approx(1.1)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ([], [], "no turns"),
        ([1.0], [1.0], "no turns"),
        ([1.0, 1.0], [1.0, 1.0, 1.0, 1.0], "no turns"),
        ([1.0, 0.0], [1.0, 1.0], "above zero"),
        ([1.0, 1.0], [1.0, math.nan], "finite"),
        ([1.0, 1.0], [1.0, math.inf], "finite"),
    ],
)
def test_what_is_no_round_is_refused(before: list[float], after: list[float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ratio_of_round(before, after)


@given(RATIOS)
def test_the_interval_is_students(ratios: list[float]) -> None:
    ratio = ratio_of_rounds(ratios)
    logs = np.log(ratios)
    assert ratio.value == pytest.approx(stats.gmean(ratios))
    if np.ptp(logs) > 1e-6:
        low, high = stats.t.interval(0.99, len(logs) - 1, loc=logs.mean(), scale=stats.sem(logs))
        assert ratio.interval == pytest.approx((math.exp(low), math.exp(high)))


@given(RATIOS, st.floats(0.1, 10.0), st.randoms(use_true_random=False))
def test_rounds_have_no_order_and_a_factor_shifts_ratio_and_interval(
    ratios: list[float], factor: float, shuffler: object
) -> None:
    ratio = ratio_of_rounds(ratios)
    mixed = list(ratios)
    shuffler.shuffle(mixed)  # type: ignore[attr-defined]
    assert ratio_of_rounds(mixed).interval == pytest.approx(ratio.interval)
    shifted = ratio_of_rounds([one * factor for one in ratios])
    assert shifted.value == pytest.approx(ratio.value * factor)
    assert shifted.interval == pytest.approx(tuple(end * factor for end in ratio.interval))


def test_one_round_tells_no_spread() -> None:
    with pytest.raises(ValueError, match="1 rounds tell no spread"):
        ratio_of_rounds([1.1])


def test_more_rounds_are_surer() -> None:
    widths = [half_width(0.01, rounds) for rounds in range(2, 13)]
    assert widths == sorted(widths, reverse=True)
    # Student's quantile for 99 % and 4 degrees of freedom, from any table: 4.604.
    assert half_width(0.01, 5) == pytest.approx(4.604 * 0.01 / math.sqrt(5), rel=1e-3)


def test_a_case_is_no_surer_than_the_middle_one() -> None:
    alike, usual, wild = [1.0, 1.0001, 1.0], [1.0, 1.01, 0.99], [1.0, 1.1, 0.9]
    quiet, middle, noisy = compare_sides([alike, usual, wild])
    assert quiet.spread == middle.spread == spread_of_rounds(usual)
    assert noisy.spread == spread_of_rounds(wild)
    assert compare_sides([]) == ()


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ([1.05, 1.049, 1.051, 1.05, 1.05], Verdict.WORSE),
        ([0.95, 0.949, 0.951, 0.95, 0.95], Verdict.BETTER),
        ([1.01, 1.0101, 1.0099, 1.01, 1.01], Verdict.SAME),  # sure, and below 1.5 %
        ([1.20, 0.95, 1.10, 0.97, 1.03], Verdict.SAME),  # 5 %, and not sure
    ],
)
def test_a_difference_is_sure_and_big_enough(ratios: list[float], verdict: Verdict) -> None:
    assert ratio_of_rounds(ratios).verdict is verdict


def test_rounds_of_nothing_raise_no_more_false_alarms_than_said() -> None:
    rng = np.random.default_rng(11)
    alarms = sum(
        ratio_of_rounds(rng.lognormal(0.0, 0.03, 5).tolist()).verdict is not Verdict.SAME
        for _ in range(4000)
    )
    assert alarms <= 4000 * 0.015
