"""Runs of one commit against each other: noise, the smallest change seen, false alarms."""

from __future__ import annotations

import math
import statistics
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asv_watch.calibrate.repeated_runs import compare_runs
from asv_watch.records.records import NEVER_RUN, Outcome, Run
from asv_watch.records.reported_value import report_value
from asv_watch.statistics.noise import calibrated_noise
from asv_watch.statistics.rule import Measurement, Verdict, judge
from tests.asv_watch.making import make_history, make_series, run_of

lists_of_values = st.lists(st.floats(1e-4, 10.0), min_size=2, max_size=5)


def sampled(rng: Any, level: float, spread: float = 0.005, count: int = 20) -> Any:
    samples = tuple((level * rng.lognormal(0.0, spread, count)).tolist())
    repeated = report_value(samples)
    return run_of(repeated.value, samples=samples, interval=repeated.interval)


def runs_of(levels: Any, models: Any = 4, spread: float = 0.005, count: int = 20) -> Any:
    rng = np.random.default_rng(3)
    return [
        make_history(
            make_series([sampled(rng, level, spread, count)], model=f"m{number}")
            for number in range(models)
        )
        for level in levels
    ]


@given(lists_of_values)
def test_noise_is_the_root_mean_square_of_all_log_ratios_of_two_runs(values: list[float]) -> None:
    repeated = compare_runs([make_history([make_series([value])]) for value in values])
    [case] = repeated.cases
    squares = [math.log(b / a) ** 2 for a, b in combinations(values, 2)]
    assert case.noise == pytest.approx(math.sqrt(statistics.fmean(squares)), abs=1e-9)
    assert case.worst == pytest.approx(max(b / a for a in values for b in values) - 1)
    assert repeated.noise == pytest.approx(case.noise)


@given(lists_of_values, st.sampled_from([2.0**-10, 2.0**20]), st.data())
def test_neither_unit_nor_order_of_the_runs_matters(
    values: list[float], factor: float, data: st.DataObject
) -> None:
    def noise(list_of_values: Any) -> Any:
        runs = [make_history([make_series([value])]) for value in list_of_values]
        [case] = compare_runs(runs).cases
        return case.noise, case.worst

    expected = pytest.approx(noise(values), abs=1e-9)
    assert noise([value * factor for value in values]) == expected
    assert noise(data.draw(st.permutations(values))) == expected


def test_runs_that_repeat_have_no_noise_and_see_little_more_than_the_least_that_counts() -> None:
    run = runs_of([1.0])[0]
    repeated = compare_runs([run, run, run])
    assert repeated.noise == repeated.worst == 0
    assert repeated.false_alarms == 0
    assert repeated.comparisons == 4 * 3
    for case in repeated.cases:
        assert case.detectable is not None
        assert 0.01499 <= case.detectable <= 0.017


@settings(max_examples=20)
@given(st.floats(0.0, 0.03), st.integers(0, 1000))
def test_the_smallest_slowdown_is_found_in_every_pair_and_a_little_less_is_not(
    spread: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    runs = [
        make_history(
            make_series([sampled(rng, 1 + rng.normal() * spread / 4, 0.01)], model=f"m{number}")
            for number in range(3)
        )
        for _ in range(3)
    ]
    repeated = compare_runs(runs)
    case = repeated.cases[0]
    noise = calibrated_noise(case.noise, [each.noise for each in repeated.cases]) / math.sqrt(2)

    def found_by_all(slowdown: float) -> bool:
        verdicts = set()
        for before, after in permutations([run.series[0].last.point for run in runs], 2):
            assert before is not None
            assert after is not None
            assert after.interval is not None
            slowed = Measurement(
                after.value * (1 + slowdown),
                (after.interval[0] * (1 + slowdown), after.interval[1] * (1 + slowdown)),
                noise,
            )
            verdicts.add(judge(Measurement(before.value, before.interval, noise), slowed).verdict)
        return verdicts == {Verdict.WORSE}

    assert case.detectable is not None
    assert found_by_all(case.detectable + 1e-6)
    assert not found_by_all(case.detectable - 1e-6)


def test_more_noise_sees_less() -> None:
    quiet = compare_runs(runs_of([1.0, 1.001, 0.999]))
    loud = compare_runs(runs_of([1.0, 1.04, 0.96]))
    assert quiet.noise < 0.005 < loud.noise
    quiet_case, loud_case = quiet.cases[0].detectable, loud.cases[0].detectable
    assert quiet_case is not None
    assert loud_case is not None
    assert quiet_case < 0.03 < loud_case


def test_a_case_far_noisier_than_all_others_raises_false_alarms() -> None:
    quiet = [(f"quiet {number}", [1.0, 1.001, 0.999]) for number in range(20)]
    cases = [*quiet, ("noisy", [1.0, 1.3, 1.0])]

    def runs(cases: Any) -> Any:
        return [
            make_history(make_series([values[run]], model=name) for name, values in cases)
            for run in range(3)
        ]

    assert compare_runs(runs(quiet)).false_alarms == 0
    repeated = compare_runs(runs(cases))
    assert (repeated.false_alarms, repeated.comparisons) == (2, 63)


def test_a_failure_is_named_and_a_skip_is_not() -> None:
    def run(second: Any) -> Any:
        return make_history(
            [
                make_series([1.0], model="fine"),
                make_series([second], model="fails"),
                make_series([Run(Outcome.SKIPPED)], model="absent"),
                make_series([NEVER_RUN], model="unasked"),
            ]
        )

    repeated = compare_runs([run(1.0), run(Run(Outcome.FAILED))])
    assert [case.case for case in repeated.cases] == ["suite.Suite.time_forward('fine', 'cpu')"]
    assert repeated.without_value == ("suite.Suite.time_forward('fails', 'cpu')",)


@pytest.mark.parametrize("count", [0, 1])
def test_one_run_has_nothing_to_compare(count: int) -> None:
    with pytest.raises(ValueError, match="two at least"):
        compare_runs(runs_of([1.0] * count))
