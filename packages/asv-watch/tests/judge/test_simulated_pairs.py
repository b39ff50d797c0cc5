"""Claims about one-case comparisons are true as often as is said of them."""

from __future__ import annotations

import pytest

from tests.simulate_pairs import simulate_pairs


def test_intervals_hold_for_another_day() -> None:
    claims = simulate_pairs(2000, 1.02)
    assert claims.holding >= 0.98 * claims.pairs, claims


def test_versions_that_do_not_differ_are_seldom_called_a_change() -> None:
    """Of 30,000 pairs 79 and 69 were, with two seeds; 11 of 3,000 were of one that was too few."""
    claims = simulate_pairs(30_000, 1.0)
    assert claims.called <= claims.pairs / 300, claims


@pytest.mark.parametrize(
    ("ratio", "share"), [(1.015, 0.34), (1.02, 0.64), (1.025, 0.86), (1.03, 0.96)]
)
def test_smaller_changes_are_found_as_often_as_was_simulated(ratio: float, share: float) -> None:
    claims = simulate_pairs(1000, ratio)
    assert claims.called / claims.pairs == pytest.approx(share, abs=0.04)
