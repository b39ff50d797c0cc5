"""Releases compared directly with a later one: which, and whether the chain agrees with them."""

from __future__ import annotations

import pytest

from asv_watch.judge.direct_release_ratios import (
    direct_ratios,
    direct_steps,
    relative_times,
)
from asv_watch.judge.release_history import release_histories
from tests.asv_watch.planted_releases import compared_releases

NEIGHBOURS = (
    compared_releases("2.8.0", "2.9.1", {"a": 0.9, "b": 0.9}),
    compared_releases("2.9.1", "2.10.0", {"a": 0.8}),
)


@pytest.mark.parametrize(("direct", "agrees"), [(0.72, True), (0.74, True), (0.8, False)])
def test_a_direct_ratio_agrees_where_the_chain_is_within_both_intervals(
    direct: float, agrees: bool
) -> None:
    measured = compared_releases("2.8.0", "2.10.0", {"a": direct, "b": 0.95})
    [history] = release_histories({"ci-2core": [*NEIGHBOURS, measured]})
    steps = direct_steps(history)
    assert [(step.before, step.after) for step in steps] == [
        ("2.9.1", "2.10.0"),
        ("2.8.0", "2.10.0"),
    ]
    ratios = direct_ratios(history, steps, "a")
    assert ratios["2.9.1"].quotient is None, "neighbours have no other way"
    ratio = ratios["2.8.0"]
    assert (ratio.ratio.ratio, ratio.agrees) == (direct, agrees)
    assert ratio.quotient == pytest.approx(0.72 / direct)
    assert direct_ratios(history, steps, "b")["2.8.0"].agrees is None, "no chain leads to it"

    times = {time.release: time for time in relative_times(history, "a")}
    assert list(times) == ["2.8.0", "2.9.1", "2.10.0"]
    assert times["2.8.0"].is_direct
    assert times["2.8.0"].ratio == pytest.approx(1 / direct)
    assert times["2.8.0"].interval[0] == pytest.approx(1 / direct / 1.02)
    assert [time.release for time in relative_times(history, "b")] == ["2.8.0", "2.10.0"]


def test_a_release_that_follows_leaves_the_direct_comparisons_as_they_are() -> None:
    """They stay those with the release that most others were compared with."""
    measured = compared_releases("2.8.0", "2.10.0", {"a": 0.8, "c": 0.5})
    newest = compared_releases("2.10.0", "2.11.0", {"a": 0.5})
    [history] = release_histories({"ci-2core": [*NEIGHBOURS, measured, newest]})
    steps = direct_steps(history)
    assert {step.after for step in steps} == {"2.10.0"}
    ratio = direct_ratios(history, steps, "a")["2.8.0"]
    assert ratio.quotient == pytest.approx(0.72 / 0.8)
    oldest, *_ = relative_times(history, "a")
    assert not oldest.is_direct
    assert oldest.ratio == pytest.approx(1 / 0.36)
    assert relative_times(history, "c") == ()
