from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asv_watch.runs.change_points import find_all_steps, find_steps
from asv_watch.runs.pruning import FEWEST_VALUES
from tests.asv_watch.evaluate_change_points import (
    asv_steps,
    evaluate_online,
    evaluate_whole,
    ours,
    ours_confirmed,
)
from tests.asv_watch.labelled_series import KINDS, NOISE, make_series, make_set

series_of_values = st.lists(st.floats(1e-3, 1e3), max_size=80)


def noisy(seed: int, *levels: Any, noise: float = 0.02, length: int = 30) -> Any:
    rng = np.random.default_rng(seed)
    return np.concatenate([level * rng.lognormal(0.0, noise, length) for level in levels])


def found_steps(values: Any) -> Any:
    return [(step.position, step.direction) for step in find_steps(values)]


@pytest.mark.parametrize(("level", "direction"), [(1.1, "up"), (1 / 1.1, "down")])
def test_a_step_is_found_in_either_direction(level: float, direction: str) -> None:
    [step] = find_steps(noisy(0, 1.0, level))
    assert abs(step.position - 30) <= 1
    assert step.direction == direction
    assert step.before == pytest.approx(1.0, rel=0.01)
    assert step.after == pytest.approx(level, rel=0.02)
    assert step.values_before + step.values_after == 60
    assert step.z > 4
    assert step.confirmed


@pytest.mark.parametrize("kind", sorted(set(KINDS)))
@pytest.mark.parametrize("noise", NOISE)
def test_without_a_step_nothing_is_found(kind: str, noise: float) -> None:
    rng = np.random.default_rng(11)
    steps = sum(len(find_steps(make_series(rng, 300, noise, kind, 0).values)) for _ in range(10))
    # 3,000 commits: at most 0.3 false alarms for 1,000 are wanted.
    assert steps <= 1


def test_a_change_below_the_minimum_effect_is_none_however_sure() -> None:
    assert found_steps(noisy(6, 1.0, 1.01, noise=0.0005)) == []
    assert len(found_steps(noisy(6, 1.0, 1.02, noise=0.0005))) == 1


def test_counts_that_repeat_exactly() -> None:
    [step] = find_steps([1000.0] * 20 + [1030.0] * 20)
    assert step.position == 20
    assert step.before == pytest.approx(1000.0)
    assert step.after == pytest.approx(1030.0)
    assert find_steps([1000.0] * 40) == []
    assert find_steps([0.0] * 40) == []


def test_values_that_are_not_all_positive() -> None:
    [step] = find_steps([0.0] * 20 + [5.0] * 20)
    assert (step.position, step.before) == (20, 0.0)
    [step] = find_steps([-10.0] * 20 + [-20.0] * 20)
    assert step.direction == "down"
    assert step.after / step.before == pytest.approx(2.0)


@given(series_of_values)
@settings(max_examples=60)
def test_steps_keep_their_distance_and_reach_their_size(values: list[float]) -> None:
    steps = find_steps(values)
    edges = [0, *(step.position for step in steps), len(values)]
    for step, start, end in zip(steps, edges, edges[2:], strict=False):
        assert step.position - start == step.values_before >= FEWEST_VALUES
        assert end - step.position == step.values_after >= FEWEST_VALUES
        assert abs(math.log(step.after / step.before)) >= math.log(1.015) * (1 - 1e-9)
        assert step.z >= 3


def test_many_series_together_have_the_steps_of_each_by_itself() -> None:
    series = [noisy(0, 1.0, 1.2), noisy(1, 1.0, 0.8, length=350), [1.0] * 30, [], [0.0, 5.0] * 9]
    assert find_all_steps(series) == [find_steps(values) for values in series]


def test_new_steps_of_many_series_are_confirmed_together() -> None:
    series = [
        np.concatenate([noisy(seed, 1.0, length=60), noisy(seed + 9, 1.3, length=9)])
        for seed in range(9)
    ]
    expected = [find_steps(values) for values in series]
    assert any(step.confirmed for steps in expected for step in steps)
    assert find_all_steps(series) == expected


@given(st.integers(0, 10_000), st.floats(1e-9, 1e9))
@settings(max_examples=40)
def test_the_unit_does_not_matter(seed: int, factor: float) -> None:
    series = make_set(seed, 1, lengths=(100,))[0]
    plain, scaled = find_steps(series.values), find_steps(series.values * factor)
    assert [step.position for step in plain] == [step.position for step in scaled]
    for entry, other in zip(plain, scaled, strict=True):
        assert other.after == pytest.approx(entry.after * factor, rel=1e-6)
        assert other.z == pytest.approx(entry.z, rel=1e-4)


@given(st.integers(0, 10_000))
@settings(max_examples=40)
def test_the_inverse_steps_the_other_way(seed: int) -> None:
    values = make_set(seed, 1, lengths=(100,))[0].values
    inverse = [
        (position, {"up": "down", "down": "up"}[way]) for position, way in found_steps(values)
    ]
    assert found_steps(1 / values) == inverse


def test_a_step_is_confirmed_once_three_runs_in_succession_show_it() -> None:
    rng = np.random.default_rng(8)
    values = rng.lognormal(0.0, 0.01, 60)
    values[40:] *= 1.3
    seen = {
        now: [step.confirmed for step in find_steps(values[:now]) if abs(step.position - 40) <= 1]
        for now in range(41, 61)
    }
    first_seen = min(now for now, steps in seen.items() if steps)
    first_confirmed = min(now for now, steps in seen.items() if steps == [True])
    assert first_seen <= 44
    assert first_confirmed == first_seen + 2
    assert all(steps == [True] for now, steps in seen.items() if now >= first_confirmed)


@pytest.mark.parametrize("late", range(1, FEWEST_VALUES + 1))
def test_too_few_values_on_one_side_of_a_jump_make_no_step(late: int) -> None:
    values = [1.0] * 20 + [2.0] * late
    for series in (values, values[::-1]):
        assert bool(find_steps(series)) == (late == FEWEST_VALUES)


def test_the_fewest_values_confirm_a_step_once_two_earlier_looks_had_enough_of_them() -> None:
    seen = [
        [
            step.confirmed
            for step in find_steps([1.0] * FEWEST_VALUES + [2.0] * (FEWEST_VALUES + n))
        ]
        for n in range(3)
    ]
    assert seen == [[False], [False], [True]]


def test_an_old_step_does_not_confirm_a_new_one() -> None:
    steps = find_steps([1.0] * 80 + [1.3] * 80 + [1.7] * FEWEST_VALUES)
    assert [(step.position, step.confirmed) for step in steps] == [(80, True), (160, False)]


def test_a_long_series_is_found_out_in_blocks() -> None:
    rng = np.random.default_rng(9)
    values = rng.lognormal(0.0, 0.02, 2400)
    planted = [130, 500, 740, 1100, 1500, 1990, 2300]
    for number, position in enumerate(planted):
        values[position:] *= 1.1 if number % 2 else 1 / 1.1
    assert [p for p, _ in found_steps(values)] == pytest.approx(planted, abs=3)


# Floors leave room for the chance of small sets; docs/notes/change-points.md has larger ones.
def test_whole_series_as_well_as_wanted_and_better_and_faster_than_asv() -> None:
    labelled = make_set(2027, 270)
    start = time.process_time()
    result = evaluate_whole(ours, labelled)
    between = time.process_time()
    asv = evaluate_whole(asv_steps, labelled)
    assert result.f1 >= 0.76
    assert result.false_alarms <= 0.3
    assert result.f1 > asv.f1
    assert result.false_alarms < asv.false_alarms
    assert between - start < time.process_time() - between


def test_under_heavy_drift_as_well_as_wanted() -> None:
    result = evaluate_whole(ours, make_set(2028, 180, kinds=("heavy drift",)))
    assert result.f1 >= 0.60
    assert result.false_alarms <= 0.75


def test_online_as_well_as_wanted() -> None:
    result = evaluate_online(ours_confirmed, make_set(2029, 40, lengths=(100,)))
    assert result.false_alarms <= 0.6
    assert result.recall >= 0.9
    assert result.within_10 >= 0.8
    assert result.median_delay <= 5
