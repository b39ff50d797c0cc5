"""Ratios of interleaved samples, their intervals, the graph that joins them, and the rule."""

import itertools
import math
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from asv_watch.statistics.graph import RatioGraph, Star, deviation_of, fit_between
from asv_watch.statistics.ratio import estimate_ratio, fastest, levels
from asv_watch.statistics.rule import Answer, Verdict, answer, is_precise, verdict

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


@pytest.mark.parametrize(
    ("ratio", "interval", "expected"),
    [
        (1.05, (1.04, 1.06), Verdict.WORSE),
        (0.95, (0.94, 0.96), Verdict.BETTER),
        (1.01, (1.009, 1.011), Verdict.SAME),  # certain, but below 1.5 %
        (1.05, (0.9, 1.2), Verdict.SAME),  # 5 %, but uncertain
        (1.05, (1.0, 1.1), Verdict.SAME),
        (0.95, (0.9, 1.0), Verdict.SAME),
    ],
)
def test_a_difference_is_certain_and_large_enough(
    ratio: float, interval: tuple[float, float], expected: Verdict
) -> None:
    assert verdict(ratio, interval) is expected


def star(nodes: str, rounds: list[tuple[float, ...]]) -> Star[str]:
    """A sitting in which each node was measured once a round."""
    logs, variances = levels(rounds)
    return Star(tuple(nodes), tuple(logs), tuple(variances), len(rounds) - 1).corrected(0.0)


def _sitting(rng: np.random.Generator, truth: dict[str, float], between: float) -> Star[str]:
    """Six rounds of some versions, whose levels deviate in this sitting."""
    nodes = "".join(truth)
    deviations = rng.normal(0.0, between / math.sqrt(2), len(nodes))
    noise = rng.normal(0.0, 0.01, (6, len(nodes))) + rng.normal(0.0, 0.2, (6, 1))
    return star(nodes, np.exp(noise + list(truth.values()) + deviations).tolist())


@given(RATIOS, st.floats(0.01, 100))
def test_two_sides_have_the_ratio_of_their_rounds(ratios: list[float], speed: float) -> None:
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
    logs, variances = levels(rounds.tolist())
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
    design, observed, weights = [], [], []
    for number, part in enumerate(stars):
        for node, level, variance in zip(part.nodes, part.levels, part.variances, strict=True):
            design.append([*(node == n for n in "bcd"), *(number == n for n in range(len(stars)))])
            observed.append(level)
            weights.append(1 / (variance + between**2 / 2))
    columns, weight = np.array(design, float), np.diag(weights)
    covariance = np.linalg.inv(columns.T @ weight @ columns)
    expected = covariance @ columns.T @ weight @ np.array(observed)
    estimate = graph.estimate("a", "d")
    assert estimate is not None
    assert estimate.log == pytest.approx(expected[2])
    assert estimate.variance == pytest.approx(covariance[2, 2])
    assert graph.cycle_count == 5 - 3


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
    own = [deviation_of(fitted * graph.likelihoods) for graph in graphs]
    assert max(own[:30]) < 0.01
    assert min(own[30:]) > 0.0125
    missed = []
    for graph, deviation, between in zip(graphs, deviations, own, strict=True):
        known = RatioGraph(graph.stars, between).estimate("a", "b")
        assert known is not None
        for _ in range(50):
            repeat = _sitting(rng, truth, deviation).estimate(0, 1, between)
            variance = repeat.variance + known.variance
            low, high = repeat._replace(log=repeat.log - known.log, variance=variance).interval
            missed.append(not low <= 1 <= high)
    assert np.mean(missed) <= 0.02


def test_a_large_graph_is_solved_as_a_small_one() -> None:
    def chained(pairs: Iterable[tuple[int, int]], step: float) -> list[Star[int]]:
        return [Star(pair, (0.0, step), (1e-6, 1e-6), 9) for pair in pairs]

    chain = chained(itertools.pairwise(range(300)), 0.001)
    for stars, last, expected in (
        (chain, 299, 0.299),
        (chain + chained([(0, 299)], 0.3), 100, 0.1),
    ):
        estimate = RatioGraph(stars, 0.001).estimate(0, last)
        assert estimate is not None
        assert estimate.log == pytest.approx(expected, abs=0.001)


@pytest.mark.parametrize(
    ("difference", "half", "expected"),
    [
        (0.04, 0.024, Answer.DIFFERENT),
        (0.04, 0.026, Answer.UNKNOWN),  # 1.59 times as wide at the smaller error
        (0.01, 0.038, Answer.SAME),
        (0.01, 0.039, Answer.UNKNOWN),  # a change of 5 % is not excluded
        (0.01, 0.001, Answer.SAME),  # too small to count, however certain
        (0.02, 0.015, Answer.UNKNOWN),  # a change by the rule, but not for certain
        (-0.2, 0.02, Answer.SAME),  # it went the other way
        (0.0, 0.0, Answer.SAME),
    ],
)
def test_the_answer_by_hand(difference: float, half: float, expected: Answer) -> None:
    assert answer(difference, half, 15, math.log1p(0.05), error=0.00015) is expected


def test_at_99_percent_an_interval_that_excludes_no_change_answers() -> None:
    assert answer(0.03, 0.029, 15, math.log1p(0.05)) is Answer.DIFFERENT


def test_half_an_interval_may_be_a_share_of_a_large_difference() -> None:
    assert is_precise(0.0, 0.015, 0.015, 0.1)
    assert not is_precise(0.1, 0.016, 0.015, 0.1)
    assert is_precise(0.9, 0.09, 0.015, 0.1)
