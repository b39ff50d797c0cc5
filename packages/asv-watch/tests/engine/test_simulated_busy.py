"""Claims about comparisons on a busy machine hold as often as is said of them."""

from asv_watch.engine.rounds import CHANGE_IF_BUSY, DEFAULT, Sampling
from tests.engine.simulate_busy import simulate_busy

ANSWERING = Sampling(change_if_busy=CHANGE_IF_BUSY)


def test_versions_that_do_not_differ_are_seldom_called_a_change() -> None:
    claims = simulate_busy(600, 1.0, ANSWERING)
    assert claims.called <= 0.01 * claims.pairs, claims
    assert claims.holding >= 0.985 * claims.pairs, claims


def test_a_change_of_10_percent_is_found_in_three_fifths_of_the_time() -> None:
    answered, precise = (simulate_busy(100, 1.1, sampling) for sampling in (ANSWERING, DEFAULT))
    assert answered.called >= 99, answered
    assert answered.seconds < 0.6 * precise.seconds, (answered, precise)
