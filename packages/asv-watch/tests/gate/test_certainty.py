"""One growing measurement is as sure as two 99 % ones, and looking often does not help chance."""

import math
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import stdtrit

from asv_watch.comparison import Comparison
from asv_watch.gate.result import ERROR, ROUNDS, is_certain, judged_ratios
from asv_watch.judge.graph import BETWEEN_SITTINGS, MachineGraphs


def _measured(ratios: Iterable[float]) -> Comparison:
    rounds = tuple((1.0, float(ratio)) for ratio in ratios)
    return Comparison("s.time_it", 1_790_000_000, rounds=rounds)


def test_chance_is_that_of_two_intervals_at_all_looks_together() -> None:
    assert pytest.approx(0.005**2) == ERROR
    random = np.random.default_rng(2)
    # With an error that simulations can count: 1 %, divided among the looks in the same way.
    wanted, count = 0.01, 40_000
    ratios = random.normal(0, 1, (count, ROUNDS[-1]))
    called = np.zeros(count, dtype=bool)
    for rounds in ROUNDS:
        looked_at = ratios[:, :rounds]
        error = looked_at.std(axis=1, ddof=1) / math.sqrt(rounds)
        limit = stdtrit(rounds - 1, 1 - wanted / len(ROUNDS))
        called |= looked_at.mean(axis=1) > limit * error
    assert called.mean() <= wanted


ROUND_RATIOS = st.lists(st.floats(0.8, 1.25), min_size=5, max_size=8)


@given(ROUND_RATIOS, ROUND_RATIOS)
@example([1.05] * 8, [1.0, 1.1, 1.02, 1.15, 0.99])
def test_no_case_is_called_slower_beside_an_interval_that_includes_1(
    first: list[float], again: list[float]
) -> None:
    """On a busy machine fresh rounds alone showed −2 to +12 % of a case called slower."""
    ratios = judged_ratios([_measured(first), _measured(again)], MachineGraphs(()))
    low, high = ratios[-1].interval
    if ratios[0].differs:
        assert not low <= 1 <= high
        assert ratios[-1].verdict is ratios[0].verdict


def test_intervals_of_the_gate_are_those_of_compare() -> None:
    """Also of a machine without a history: they include what the prior says of sittings."""
    measured = _measured([1.031, 1.030, 1.032, 1.031, 1.030])
    [ratio] = judged_ratios([measured], MachineGraphs(()))
    alone, compared = measured.ratio(0, 1), MachineGraphs(()).alone(measured, 0, 1)
    assert alone is not None
    assert compared is not None
    assert (ratio.ratio, ratio.interval) == (compared.ratio, compared.interval)
    half = math.log(ratio.interval[1] / ratio.ratio)
    assert half > 2.5 * BETWEEN_SITTINGS["time"]
    assert half > 5 * math.log(alone.interval[1] / alone.ratio)
    assert not is_certain(ratio), "another hour may show less than 2 %"
