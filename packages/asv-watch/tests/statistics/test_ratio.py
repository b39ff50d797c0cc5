"""Ratios of interleaved samples: what changes them, what does not, and their intervals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from asv_watch.statistics.ratio import estimate_ratio, fastest, margin_of_error
from asv_watch.statistics.rule import Verdict, verdict

RATIOS = st.lists(st.floats(0.5, 2.0), min_size=2, max_size=12)


def ratio_of_round(before: list[float], after: list[float]) -> float:
    """The ratio of the means of the faster halves."""
    old, new = (fastest(samples, lambda sample: sample) for samples in (before, after))
    return sum(new) / sum(old)


def _sides(turns: list[tuple[float, float, float, float]]) -> tuple[list[float], list[float]]:
    """A B B A, as it was measured, to the samples of A and of B."""
    return [s for a, _, _, d in turns for s in (a, d)], [s for _, b, c, _ in turns for s in (b, c)]


@pytest.mark.parametrize(
    ("samples", "counted"), [(1, 1), (2, 1), (5, 3), (8, 4), (9, 4), (16, 4), (32, 8)]
)
def test_of_many_samples_the_fastest_quarter_counts(samples: int, counted: int) -> None:
    taken = [(7.0 * index) % samples for index in range(samples)]
    assert sorted(fastest(taken, float)) == sorted(taken)[:counted]


@given(st.floats(0.5, 2.0), st.lists(st.floats(0.1, 10.0), min_size=1, max_size=15))
def test_what_meets_both_sides_of_a_turn_alike_does_not_move_it(
    ratio: float, slow: list[float]
) -> None:
    turns = [(speed, speed * ratio, speed * ratio, speed) for speed in slow]
    assert ratio_of_round(*_sides(turns)) == pytest.approx(ratio)


@given(st.floats(-0.05, 0.05), st.integers(0, 9), st.integers(0, 3), st.floats(1.0, 100.0))
def test_drift_and_interference_do_not_move_a_round(
    drift: float, turn: int, index: int, slowed: float
) -> None:
    levels = [1 + drift * number / 40 for number in range(40)]
    levels[4 * turn + index] *= slowed
    sides = [1.0, 1.1, 1.1, 1.0]
    samples = [level * sides[number % 4] for number, level in enumerate(levels)]
    turns = zip(samples[::4], samples[1::4], samples[2::4], samples[3::4], strict=True)
    assert ratio_of_round(*_sides(list(turns))) == pytest.approx(1.1, rel=0.003)


@given(RATIOS)
def test_the_interval_is_students_about_the_hodges_lehmann_estimate(ratios: list[float]) -> None:
    ratio, interval = estimate_ratio(ratios)
    logs = np.log(ratios)
    means = [(a + b) / 2 for a, b in itertools.combinations_with_replacement(logs, 2)]
    assert math.log(ratio) == pytest.approx(np.median(means))
    if np.ptp(logs) > 1e-6:
        half = stats.t.ppf(0.995, len(logs) - 1) * stats.sem(logs)
        assert interval == pytest.approx((ratio * math.exp(-half), ratio * math.exp(half)))


def test_the_least_spread_widens_the_interval_of_a_quiet_case_alone() -> None:
    quiet, noisy = [1.0, 1.0001, 1.0], [1.0, 1.1, 0.9]
    ratio, (_, high) = estimate_ratio(quiet, 0.01)
    assert math.log(high / ratio) == pytest.approx(margin_of_error(0.01, 3))
    assert estimate_ratio(noisy, 0.01) == estimate_ratio(noisy)


def _verdict(ratios: list[float]) -> Verdict:
    return verdict(*estimate_ratio(ratios))


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ([1.05, 1.049, 1.051, 1.05, 1.05], Verdict.WORSE),
        ([0.95, 0.949, 0.951, 0.95, 0.95], Verdict.BETTER),
        ([1.01, 1.0101, 1.0099, 1.01, 1.01], Verdict.SAME),  # certain, but below 1.5 %
        ([1.20, 0.95, 1.10, 0.97, 1.03], Verdict.SAME),  # 5 %, but uncertain
    ],
)
def test_a_difference_is_certain_and_large_enough(ratios: list[float], expected: Verdict) -> None:
    assert _verdict(ratios) is expected


@pytest.mark.parametrize(("ratio", "interval"), [(1.05, (1.0, 1.1)), (0.95, (0.9, 1.0))])
def test_an_interval_that_ends_at_1_excludes_no_equality(
    ratio: float, interval: tuple[float, float]
) -> None:
    assert verdict(ratio, interval) is Verdict.SAME
