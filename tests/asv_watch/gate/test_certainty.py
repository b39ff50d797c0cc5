"""One growing measurement is as sure as two 99 % ones, and looking often does not help chance."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import stdtrit

from asv_watch.gate.certainty import ERROR, ROUNDS, is_certain, is_decided
from asv_watch.records.comparisons import CaseRatio
from asv_watch.statistics.ratio import estimate_ratio


def _change(ratios: npt.NDArray[np.float64]) -> CaseRatio:
    values = tuple(map(float, ratios))
    ratio, interval = estimate_ratio(values)
    return CaseRatio("s.time_it", 1_790_000_000, values, ratio, interval, 1.0, ratio)


def _found(seed: int, slower: float, spread: float, count: int) -> int:
    """Count the cases that a gate calls slower, of so many with a normal spread of rounds."""
    random = np.random.default_rng(seed)
    found = 0
    for _ in range(count):
        ratios = np.exp(random.normal(math.log1p(slower), spread, ROUNDS[-1]))
        for rounds in ROUNDS:
            change = _change(ratios[:rounds])
            if is_decided(change, 0.03):
                found += is_certain(change)
                break
    return found


@pytest.mark.parametrize("spread", [0.005, 0.02, 0.05])
def test_no_harmless_case_of_five_hundred_is_called_slower(spread: float) -> None:
    assert _found(1, 0.0, spread, 500) == 0


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


@pytest.mark.parametrize(("slower", "spread"), [(0.05, 0.01), (0.1, 0.03)])
def test_a_slowdown_is_found(slower: float, spread: float) -> None:
    assert _found(3, slower, spread, 100) >= 95
