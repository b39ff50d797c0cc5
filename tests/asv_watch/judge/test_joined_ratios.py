"""Comparisons of two commits each are joined to ratios of all commits to one."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.judge.joined_ratios import joined_ratios
from asv_watch.judge.measured_pairs import MeasuredPair, changed_pairs


def pair(before: int, after: int, ratio: float, half: float = 0.01) -> MeasuredPair:
    interval = (ratio * math.exp(-half), ratio * math.exp(half))
    return MeasuredPair(before, after, ratio, interval, (1.0, ratio))


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(1, 5), st.floats(0.5, 2), st.floats(0.001, 0.3)),
        max_size=20,
    )
)
def test_both_sides_of_a_change_differ_by_its_size(
    drawn: list[tuple[int, int, float, float]],
) -> None:
    pairs = [pair(before, before + distance, *size) for before, distance, *size in drawn]
    of = {joined.position: joined for joined in joined_ratios(pairs)}
    assert of.keys() == {end for pair in pairs for end in (pair.before, pair.after)}
    for change in changed_pairs(pairs):
        before, after = of[change.before], of[change.after]
        assert before.part == after.part
        assert after.ratio / before.ratio == pytest.approx(change.ratio)
    for joined in of.values():
        assert joined.interval[0] <= joined.ratio <= joined.interval[1]


def test_commits_that_were_all_compared_with_one_have_their_ratio_to_it() -> None:
    joined = joined_ratios([pair(1, 4, 1.1), pair(4, 7, 0.8), pair(4, 9, 0.5)])
    assert [(of.position, of.ratio) for of in joined] == [
        (1, pytest.approx(1 / 1.1)),
        (4, 1.0),
        (7, pytest.approx(0.8)),
        (9, pytest.approx(0.5)),
    ]


def test_what_no_comparison_connects_is_another_part() -> None:
    joined = joined_ratios([pair(1, 2, 2.0), pair(5, 6, 0.5), pair(6, 7, 1.0)])
    assert [(of.position, of.part) for of in joined] == [(5, 0), (6, 0), (7, 0), (1, 1), (2, 1)]


def test_another_machine_goes_on_from_a_commit_that_both_compared() -> None:
    here = [pair(4, 7, 0.8), pair(4, 9, 0.5)]
    there = {"lab": [pair(4, 7, 0.7), pair(4, 12, 0.4), pair(20, 21, 3.0)]}
    joined = joined_ratios(here, there)
    assert [(of.position, of.machine) for of in joined] == [
        (4, ""),
        (7, ""),
        (9, ""),
        (12, "lab"),
    ]
    assert [of.ratio for of in joined] == pytest.approx([1, 0.8, 0.5, 0.4])
    parts = joined_ratios([pair(1, 2, 2.0), pair(5, 6, 0.5)], {"lab": [pair(2, 5, 1.5)]})
    assert {of.part for of in parts} == {0}
    assert [of.ratio for of in parts] == pytest.approx([1, 2, 3, 1.5])
