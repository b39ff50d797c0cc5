"""Runs of one commit against each other: noise, the smallest change seen, false alarms."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.watch.making import figure, make_history, make_series
from torchspeed.watch.analysis.compare import Verdict, compare_revisions
from torchspeed.watch.history.records import NEVER_RUN, Outcome, Run
from torchspeed.watch.history.reported_value import figure_of
from torchspeed.watch.turns.repeated_runs import compare_runs

figures = st.lists(st.floats(1e-4, 10.0), min_size=2, max_size=5)


def sampled(rng, level, spread=0.005, count=20):
    samples = tuple((level * rng.lognormal(0.0, spread, count)).tolist())
    found = figure_of(samples)
    return figure(found.value, samples=samples, interval=found.interval)


def runs_of(levels, models=4, spread=0.005, count=20):
    rng = np.random.default_rng(3)
    return [
        make_history(
            make_series([sampled(rng, level, spread, count)], model=f"m{number}")
            for number in range(models)
        )
        for level in levels
    ]


@given(figures)
def test_noise_is_the_root_mean_square_of_all_log_ratios_of_two_runs(values):
    found = compare_runs([make_history([make_series([value])]) for value in values])
    [case] = found.cases
    squares = [math.log(b / a) ** 2 for a, b in combinations(values, 2)]
    assert case.noise == pytest.approx(math.sqrt(statistics.fmean(squares)), abs=1e-9)
    assert case.worst == pytest.approx(max(b / a for a in values for b in values) - 1)
    assert found.noise == pytest.approx(case.noise)


@given(figures, st.sampled_from([2.0**-10, 2.0**20]), st.data())
def test_neither_unit_nor_order_of_the_runs_matters(values, factor, data):
    def noise(list_of_values):
        runs = [make_history([make_series([value])]) for value in list_of_values]
        [case] = compare_runs(runs).cases
        return case.noise, case.worst

    expected = pytest.approx(noise(values), abs=1e-9)
    assert noise([value * factor for value in values]) == expected
    assert noise(data.draw(st.permutations(values))) == expected


def test_runs_that_repeat_have_no_noise_and_see_little_more_than_the_least_that_counts():
    run = runs_of([1.0])[0]
    found = compare_runs([run, run, run])
    assert found.noise == found.worst == 0
    assert found.false_alarms == 0
    assert found.comparisons == 4 * 3
    for case in found.cases:
        assert 0.015 <= case.sees <= 0.017


@settings(max_examples=5)
@given(st.floats(0.0, 0.02))
def test_the_smallest_change_seen_is_found_in_every_pair_and_a_little_less_is_not(spread):
    rng = np.random.default_rng(11)
    runs = [
        make_history(
            make_series([sampled(rng, 1 + rng.normal() * spread / 4, 0.01)], model=f"m{number}")
            for number in range(3)
        )
        for _ in range(3)
    ]
    case = compare_runs(runs).cases[0]

    def found_by_all(slowdown):
        seen = []
        for before, after in [(a, b) for a in runs for b in runs if a is not b]:
            pairs = []
            for number, (old, new) in enumerate(zip(before.series, after.series, strict=True)):
                run = new.last
                if number == 0:
                    samples = tuple(s * (1 + slowdown) for s in run.point.samples)
                    run = figure(run.point.value * (1 + slowdown), samples=samples)
                pairs.append(replace(old, runs={"0" * 40: old.last, "00000001" * 5: run}))
            history = make_history(pairs)
            compared = compare_revisions(history, "0" * 40, "00000001" * 5)
            seen.append(compared[0].verdict is Verdict.WORSE)
        return all(seen) and math.log1p(slowdown) >= 3 * case.noise

    assert found_by_all(case.sees)
    assert not found_by_all(case.sees - 0.0011)


def test_more_noise_sees_less_and_raises_alarms():
    quiet = compare_runs(runs_of([1.0, 1.001, 0.999]))
    loud = compare_runs(runs_of([1.0, 1.04, 0.96]))
    assert quiet.false_alarms == 0
    assert loud.false_alarms > 0
    assert quiet.noise < 0.005 < loud.noise
    assert quiet.cases[0].sees < 0.03 < loud.cases[0].sees


def test_too_few_samples_see_nothing_however_quiet():
    # The rank test of 4 against 4 has p = 2/70 at best, and fewer than 5 are not tested.
    found = compare_runs(runs_of([1.0, 1.0], count=4))
    assert {case.sees for case in found.cases} == {None}
    assert {case.samples for case in found.cases} == {4}


def test_where_more_is_better_a_slowdown_means_less():
    rng = np.random.default_rng(5)
    runs = [
        make_history([make_series([sampled(rng, 100.0)], higher_is_better=True)]) for _ in range(3)
    ]
    [case] = compare_runs(runs).cases
    assert case.sees < 0.03


def test_a_failure_is_named_and_a_skip_is_not():
    def run(second):
        return make_history(
            [
                make_series([1.0], model="fine"),
                make_series([second], model="fails"),
                make_series([Run(Outcome.SKIPPED)], model="absent"),
                make_series([NEVER_RUN], model="unasked"),
            ]
        )

    found = compare_runs([run(1.0), run(Run(Outcome.FAILED))])
    assert [case.case for case in found.cases] == ["suite.Suite.time_forward('fine', 'cpu')"]
    assert found.without_figure == ("suite.Suite.time_forward('fails', 'cpu')",)


@pytest.mark.parametrize("count", [0, 1])
def test_one_run_has_nothing_to_compare(count):
    with pytest.raises(ValueError, match="two at least"):
        compare_runs(runs_of([1.0] * count))
