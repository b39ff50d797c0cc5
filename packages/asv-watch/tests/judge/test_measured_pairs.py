"""Any two commits that comparisons join have a ratio, by all ways between them."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.judge.changes import MeasuredCommits
from asv_watch.judge.graph import MachineGraphs
from asv_watch.versions.version import Release
from tests.making import commit_hash
from tests.planted_comparisons import compared_commits

POSITIONS = {commit_hash(number): number for number in range(100)}
Pair = tuple[int, int, float]


def commits_of(*pairs: Pair) -> MeasuredCommits:
    """Commits that were compared, each pair in a sitting of its own."""
    sittings = (
        compared_commits((commit_hash(before), commit_hash(after)), {"a": ratio}, at=number)
        for number, (before, after, ratio) in enumerate(pairs)
    )
    graph = MachineGraphs(list(itertools.chain(*sittings))).commits("a")
    assert graph is not None
    return MeasuredCommits(graph, POSITIONS, Release("torch", "2.15.0"), "3.11")


@given(st.lists(st.floats(0.5, 2), min_size=1, max_size=10))
def test_ratios_of_a_chain_multiply(ratios: list[float]) -> None:
    found = commits_of(*((n, n + 1, ratio) for n, ratio in enumerate(ratios)))
    pairs = found.all_pairs()
    count = len(ratios) + 1
    assert len(pairs) == count * (count - 1) // 2
    for (before, after), measured in pairs.items():
        assert measured.ratio == pytest.approx(math.prod(ratios[before:after]))
        assert measured.interval[0] < measured.ratio < measured.interval[1]
        assert len(measured.sittings) == (after == before + 1)


def test_nothing_is_said_of_two_commits_that_no_comparison_joins() -> None:
    found = commits_of((1, 2, 2.0), (5, 6, 0.5), (6, 7, 1.0))
    assert sorted(found.parts) == [(1, 2), (5, 6, 7)]
    assert found.ratio(2, 5) is None


def test_of_a_long_history_only_what_was_compared_and_neighbours_are_published() -> None:
    found = commits_of(*((n, n + 1, 1.0) for n in range(80)), (0, 80, 1.0))
    assert len(found.all_pairs()) == 81
