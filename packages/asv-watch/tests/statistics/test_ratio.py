"""Ratios of interleaved samples, their intervals, and the graph that joins comparisons."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from asv_watch.statistics.graph import RatioGraph, Star, fit_between
from asv_watch.statistics.ratio import estimate_ratio, fastest, levels, margin_of_error
from asv_watch.statistics.rule import Verdict, verdict

RATIOS = st.lists(st.floats(0.5, 2.0), min_size=2, max_size=12)


@pytest.mark.parametrize(
    ("samples", "counted"), [(1, 1), (2, 1), (5, 3), (8, 4), (9, 4), (16, 4), (32, 8)]
)
def test_of_many_samples_the_fastest_quarter_counts(samples: int, counted: int) -> None:
    taken = [(7.0 * index) % samples for index in range(samples)]
    assert sorted(fastest(taken, float)) == sorted(taken)[:counted]


@given(RATIOS)
def test_the_interval_is_students_about_the_hodges_lehmann_estimate(ratios: list[float]) -> None:
    ratio, interval = estimate_ratio(ratios)
    logs = np.log(ratios)
    means = [(a + b) / 2 for a, b in itertools.combinations_with_replacement(logs, 2)]
    assert math.log(ratio) == pytest.approx(np.median(means))
    if np.ptp(logs) > 1e-6:
        half = stats.t.ppf(0.995, len(logs) - 1) * stats.sem(logs)
        assert interval == pytest.approx((ratio * math.exp(-half), ratio * math.exp(half)))


def test_the_least_spread_widens_the_interval_of_a_quiet_case_alone() -> None:
    quiet, noisy = [1.0, 1.0001, 1.0], [1.0, 1.1, 0.9]
    ratio, (_, high) = estimate_ratio(quiet, 0.01)
    assert math.log(high / ratio) == pytest.approx(margin_of_error(0.01, 3))
    assert estimate_ratio(noisy, 0.01) == estimate_ratio(noisy)


def _verdict(ratios: list[float]) -> Verdict:
    return verdict(*estimate_ratio(ratios))


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ([1.05, 1.049, 1.051, 1.05, 1.05], Verdict.WORSE),
        ([0.95, 0.949, 0.951, 0.95, 0.95], Verdict.BETTER),
        ([1.01, 1.0101, 1.0099, 1.01, 1.01], Verdict.SAME),  # certain, but below 1.5 %
        ([1.20, 0.95, 1.10, 0.97, 1.03], Verdict.SAME),  # 5 %, but uncertain
    ],
)
def test_a_difference_is_certain_and_large_enough(ratios: list[float], expected: Verdict) -> None:
    assert _verdict(ratios) is expected


@pytest.mark.parametrize(("ratio", "interval"), [(1.05, (1.0, 1.1)), (0.95, (0.9, 1.0))])
def test_an_interval_that_ends_at_1_excludes_no_equality(
    ratio: float, interval: tuple[float, float]
) -> None:
    assert verdict(ratio, interval) is Verdict.SAME


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
