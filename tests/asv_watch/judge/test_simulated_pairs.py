"""Claims about one-case comparisons are true as often as docs/history.md says."""

from __future__ import annotations

from tests.asv_watch.simulate_pairs import simulate_pairs


def test_intervals_hold_for_another_day() -> None:
    claims = simulate_pairs(2000, 1.02)
    assert claims.holding >= 0.98 * claims.pairs, claims


def test_versions_that_do_not_differ_are_seldom_called_a_change() -> None:
    """Of 30,000 pairs 79 and 69 were, with two seeds; 11 of 3,000 were of one that was too few."""
    claims = simulate_pairs(30_000, 1.0)
    assert claims.called <= claims.pairs / 300, claims


def test_a_change_of_3_percent_is_found_in_its_first_night() -> None:
    claims = simulate_pairs(3000, 1.03)
    assert claims.called >= 0.95 * claims.pairs, claims
