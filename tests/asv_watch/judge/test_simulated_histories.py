"""Claims about simulated histories are true as often as docs/history.md says."""

from __future__ import annotations

from tests.asv_watch.simulate_histories import simulate


def test_claims_of_simulated_nights_are_true() -> None:
    tally = simulate(60, seed=7)
    assert tally.shown > 100
    assert tally.true >= 0.98 * tally.shown, str(tally)
    assert tally.spanning == 0, str(tally)
    assert tally.false <= 1 + tally.quiet_commits / 1000, str(tally)
    assert tally.measured >= 0.95 * tally.steps, str(tally)
