"""A commit compared with itself: the noise, and the smallest slowdown that is found."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.calibrate.repeated_comparisons import summarise_repeats
from asv_watch.records.comparisons import CaseRatio
from asv_watch.statistics.ratio import estimate_ratio, verdict
from asv_watch.statistics.rule import Verdict

ROUNDS = st.lists(st.floats(0.9, 1.1), min_size=5, max_size=5)


def _case(name: str, ratios: list[float]) -> CaseRatio:
    ratio, interval = estimate_ratio(ratios)
    return CaseRatio(name, 0, tuple(ratios), ratio, interval, 1.0, 1.0)


def test_noise_and_worst_are_those_of_all_comparisons_about_1() -> None:
    repeats = [[_case("x", [ratio] * 3)] for ratio in (1.02, 0.99, 1.0)]
    summary = summarise_repeats(60.0, repeats)
    assert summary is not None
    [case] = summary.cases
    logs = [math.log(ratio) for ratio in (1.02, 0.99, 1.0)]
    assert case.noise == summary.noise == pytest.approx(math.sqrt(sum(v * v for v in logs) / 3))
    assert case.worst == summary.worst == pytest.approx(0.02)
    assert (case.rounds, summary.repeats, summary.ratios) == (3, 3, 3)
    assert summary.false_alarms == 1  # 2 % in every round: certain, and above 1.5 %


@given(ROUNDS)
def test_the_smallest_slowdown_seen_is_found_on_either_side_and_no_smaller(
    ratios: list[float],
) -> None:
    summary = summarise_repeats(1.0, [[_case("x", ratios)]])
    assert summary is not None
    sees = summary.cases[0].detectable

    def seen(slowdown: float) -> bool:
        """By the rule itself, with the later side slowed, and then the earlier."""
        later = [ratio * (1 + slowdown) for ratio in ratios]
        earlier = [1 / ratio * (1 + slowdown) for ratio in ratios]
        return all(verdict(_case("x", side)) is Verdict.WORSE for side in (later, earlier))

    assert seen(sees + 1e-6)
    assert not seen(sees - 1e-6)


def test_only_cases_in_every_comparison_count() -> None:
    both, once = _case("both", [1.0, 1.01]), _case("once", [1.0, 1.01])
    summary = summarise_repeats(1.0, [[both, once], [both]])
    assert summary is not None
    assert [case.case for case in summary.cases] == ["both"]
    assert summarise_repeats(1.0, [[once], []]) is None
