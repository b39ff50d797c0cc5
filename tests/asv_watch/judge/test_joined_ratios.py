"""Comparisons of two commits each are joined to ratios of all commits to one."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.judge.graph import MachineGraphs
from asv_watch.judge.joined_ratios import JoinedRatio, joined_ratios
from asv_watch.judge.measured_pairs import MeasuredCommits
from tests.asv_watch.making import commit_hash
from tests.asv_watch.planted_releases import compared_releases

POSITIONS = {commit_hash(number): number for number in range(20)}
Pair = tuple[int, int, float]


def joined(*pairs: Pair) -> tuple[JoinedRatio, ...]:
    """The ratios of all commits, from comparisons in sittings of their own."""
    graphs = MachineGraphs(
        [
            compared_releases(
                "2.2.0", "2.2.0", {"a": ratio}, kind="compare", at=3600 * number,
                commits=(commit_hash(before), commit_hash(after)),
            )
            for number, (before, after, ratio) in enumerate(pairs)
        ]
    )  # fmt: skip
    graph = graphs.versions("a")
    assert graph is not None
    return joined_ratios(MeasuredCommits(graph, POSITIONS, "torch 2.2.0", "3.11"))


@given(st.lists(st.floats(0.5, 2), min_size=1, max_size=10))
def test_neighbours_of_a_chain_differ_by_what_was_measured_of_them(ratios: list[float]) -> None:
    pairs = [(number, number + 1, ratio) for number, ratio in enumerate(ratios)]
    of = {ratio.position: ratio for ratio in joined(*pairs)}
    assert of.keys() == set(range(len(ratios) + 1))
    for before, after, ratio in pairs:
        assert of[after].ratio / of[before].ratio == pytest.approx(ratio)
    for found in of.values():
        assert found.interval[0] <= found.ratio <= found.interval[1]


def test_commits_that_were_all_compared_with_one_have_their_ratio_to_it() -> None:
    found = joined((1, 4, 1.1), (4, 7, 0.8), (4, 9, 0.5))
    assert [(of.position, of.ratio) for of in found] == [
        (1, pytest.approx(1 / 1.1)),
        (4, 1.0),
        (7, pytest.approx(0.8)),
        (9, pytest.approx(0.5)),
    ]
    assert found[1].interval == (1.0, 1.0)


def test_what_no_comparison_connects_is_another_part() -> None:
    found = joined((1, 2, 2.0), (5, 6, 0.5), (6, 7, 1.0))
    assert [(of.position, of.part) for of in found] == [(5, 0), (6, 0), (7, 0), (1, 1), (2, 1)]


def test_several_ways_to_a_commit_count_each_by_its_precision() -> None:
    [_, middle, last] = joined((1, 4, 1.0), (4, 9, 1.0), (1, 9, 1.03))
    whole = math.log(last.ratio)
    assert 0 < math.log(middle.ratio) < whole < math.log(1.03)
