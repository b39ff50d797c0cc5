"""Graphs of comparisons: what a star says, how paths combine, and how much sittings vary."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.statistics.graph import RatioGraph, Star, fit_between
from asv_watch.statistics.ratio import estimate_ratio, levels

Rounds = list[tuple[float, ...]]


def star(nodes: str, rounds: Rounds) -> Star[str]:
    """A sitting in which each node was measured once a round."""
    logs, variances = levels(rounds, 0.0)
    return Star(tuple(nodes), tuple(logs), tuple(variances), len(rounds) - 1)


def _sitting(rng: np.random.Generator, truth: dict[str, float], between: float) -> Star[str]:
    """Six rounds of some versions, whose levels deviate in this sitting."""
    nodes = "".join(truth)
    deviations = rng.normal(0.0, between / math.sqrt(2), len(nodes))
    noise = rng.normal(0.0, 0.01, (6, len(nodes))) + rng.normal(0.0, 0.2, (6, 1))
    return star(nodes, np.exp(noise + list(truth.values()) + deviations).tolist())


@given(st.lists(st.floats(0.5, 2.0), min_size=2, max_size=12), st.floats(0.01, 100))
def test_two_sides_have_the_ratio_and_interval_of_their_rounds(
    ratios: list[float], speed: float
) -> None:
    own = RatioGraph([star("ab", [(speed, speed * ratio) for ratio in ratios])], 0.0)
    estimate = own.estimate("a", "b")
    assert estimate is not None
    ratio, interval = estimate_ratio(ratios, 1e-4)
    assert estimate.ratio == pytest.approx(ratio)
    assert estimate.interval == pytest.approx(interval)


def test_a_noisy_side_has_the_wide_intervals_and_an_odd_process_moves_no_level() -> None:
    rng = np.random.default_rng(1)
    spreads = np.array([0.005, 0.005, 0.05, 0.005])
    rounds = np.exp(rng.normal(0.0, spreads, (40, 4)))
    rounds[3, 0] *= 1.4
    logs, variances = levels(rounds.tolist(), 0.0)
    assert np.abs(logs - logs[1])[[0, 3]].max() < 0.005
    assert variances[2] > 8 * variances[[1, 3]].max()


def test_first_against_last_is_as_precise_as_neighbours() -> None:
    rng = np.random.default_rng(2)
    sittings = [_sitting(rng, dict.fromkeys("abcde", 0.0), 0.0) for _ in range(100)]
    errors = np.array([[part.levels[end] - part.levels[0] for end in (1, 4)] for part in sittings])
    direct = np.sqrt((errors**2).mean(axis=0))
    assert direct == pytest.approx(0.01 * math.sqrt(2 / 6), rel=0.2)
    claimed = np.mean([part.estimate(0, 4, 0.0).variance for part in sittings])
    assert math.sqrt(claimed) == pytest.approx(direct[1], rel=0.2)


@given(st.integers(0, 1000))
def test_paths_combine_as_generalised_least_squares_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    between = 0.01
    stars = [
        _sitting(rng, dict.fromkeys(nodes, 0.0), between) for nodes in ("abc", "cd", "da", "ab")
    ]
    graph = RatioGraph(stars, between)
    rows, observed, blocks = [], [], []
    for part in stars:
        contrast = np.eye(len(part.nodes))[1:] - np.eye(len(part.nodes))[:1]
        selector = np.array(
            [["abcd".index(node) == column for column in range(4)] for node in part.nodes]
        )
        rows.append(contrast @ selector)
        observed.append(contrast @ np.array(part.levels))
        errors = np.diag(np.array(part.variances) + between**2 / 2)
        blocks.append(np.linalg.inv(contrast @ errors @ contrast.T))
    normal = sum(row.T @ block @ row for row, block in zip(rows, blocks, strict=True))[1:, 1:]
    right = sum(
        row.T @ block @ seen for row, block, seen in zip(rows, blocks, observed, strict=True)
    )[1:]
    expected = np.linalg.solve(normal, right)
    estimate = graph.estimate("a", "d")
    assert estimate is not None
    assert estimate.log == pytest.approx(expected[2])
    assert estimate.variance == pytest.approx(np.linalg.inv(normal)[2, 2])
    assert graph.cycle_count == 5 - 3


def test_versions_that_no_comparison_joins_have_no_ratio() -> None:
    rng = np.random.default_rng(3)
    stars = [_sitting(rng, dict.fromkeys(nodes, 0.0), 0.0) for nodes in ("ab", "cd")]
    graph = RatioGraph(stars, 0.0)
    assert graph.estimate("a", "c") is None
    assert graph.estimate("a", "z") is None
    assert graph.part("a") != graph.part("c")


def test_each_case_varies_between_sittings_by_what_its_repeats_and_the_other_cases_show() -> None:
    """99 % intervals of cases that vary by 0.2 % and by 3 % miss at most 2 % of new sittings."""
    rng = np.random.default_rng(4)
    truth = {"a": 0.0, "b": 0.02}
    deviations = [0.002] * 30 + [0.03] * 6
    graphs = [
        RatioGraph([_sitting(rng, truth, deviation) for _ in range(5)], 0.005)
        for deviation in deviations
    ]
    fitted = fit_between(graphs, 0.005)
    own = [fitted.of(graph) for graph in graphs]
    assert max(own[:30]) < 0.01
    assert min(own[30:]) > 0.0125
    missed = count = 0
    for graph, deviation, between in zip(graphs, deviations, own, strict=True):
        known = RatioGraph(graph.stars, between).estimate("a", "b")
        assert known is not None
        for _ in range(50):
            repeat = _sitting(rng, truth, deviation).estimate(0, 1, between)
            difference = repeat._replace(
                log=repeat.log - known.log, variance=repeat.variance + known.variance
            )
            low, high = difference.interval
            missed += not low <= 1 <= high
            count += 1
    assert missed <= 0.02 * count


def test_without_repeats_the_default_holds() -> None:
    graphs = [RatioGraph([_sitting(np.random.default_rng(5), {"a": 0.0, "b": 0.0}, 0.0)], 0.0)]
    fitted = fit_between(graphs, 0.005)
    assert 0.004 < fitted.usual < 0.009
    assert fitted.of(graphs[0]) == pytest.approx(fitted.usual)


def test_a_large_graph_is_solved_as_a_small_one() -> None:
    rng = np.random.default_rng(6)
    nodes = list(range(300))
    chain = [
        Star((first, second), (0.0, 0.001), (1e-6, 1e-6), 9)
        for first, second in itertools.pairwise(nodes)
    ]
    chain += [Star((0, 299), (0.0, float(rng.normal(0.3, 0.001))), (1e-6, 1e-6), 9)]
    estimate = RatioGraph(chain, 0.001).estimate(0, 100)
    assert estimate is not None
    assert estimate.log == pytest.approx(0.1, abs=0.01)
    open_chain = RatioGraph(chain[:-1], 0.001).estimate(0, 299)
    assert open_chain is not None
    assert open_chain.log == pytest.approx(0.299)
