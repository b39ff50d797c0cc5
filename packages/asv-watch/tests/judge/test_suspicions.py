"""Separate runs: their noise and events, and what asv's step detection suspects."""

from typing import Any

import numpy as np
import pytest
from msgspec import structs
from msgspec.structs import astuple

from asv_watch.comparison import Conditions
from asv_watch.judge.changes import analyse
from asv_watch.judge.segments import find_events, noise_between_runs, split
from asv_watch.records.history import History, Measured
from asv_watch.records.records import FORKED, NOT_FORKED, PROCESSES
from tests.judge.test_changes import noisy
from tests.making import ENVIRONMENT, MACHINE, commit_hash, make_history, make_series, run_of

OLD, NEW, NO_GPU = {"os": "6.1"}, {"os": "6.2"}, {"gpu": "none"}
PYTHON_11, PYTHON_12 = {"python": "3.11"}, {"python": "3.12"}


def _by_hash(setups: Any) -> Any:
    """What was measured, by setup and number of the commit: facts, and conditions of its runs."""
    return {
        setup: {commit_hash(number): Measured(*of) for number, of in measured.items()}
        for setup, measured in setups.items()
    }


def events_of(history: History) -> list[tuple[Any, ...]]:
    """The events with the number of the commit."""
    events = find_events(history)
    return [(e.machine, e.environment, history.order[e.commit], *astuple(e)[3:]) for e in events]


def test_a_fact_is_compared_with_the_last_commit_that_recorded_it() -> None:
    facts = {
        ("m", "a"): {0: OLD | NO_GPU | PYTHON_11, 2: NEW | NO_GPU | PYTHON_12, 3: NEW, 5: NO_GPU},
        ("m", "b"): {1: OLD | PYTHON_11, 4: {"driver": "600"} | PYTHON_11, 7: {"gpu": "two"}},
        ("other", "b"): {2: OLD},
    }
    measured = {setup: {n: (each,) for n, each in of.items()} for setup, of in facts.items()}
    assert events_of(make_history([make_series([1.0] * 9)], setups=_by_hash(measured))) == [
        ("m", "b", 1, "environment", "", "b"),
        ("m", "a", 2, "python", "3.11", "3.12"),
        ("m", "", 2, "os", "6.1", "6.2"),
        ("m", "", 7, "gpu", "none", "two"),
    ]


def test_the_environments_of_a_machine_are_one_sequence_of_its_runs() -> None:
    """What asv stores too is one event."""
    old, new, other = (
        Conditions(environment="", machine=facts) for facts in (OLD, NEW, {"os": "5"})
    )
    measured = {
        ("m", "a"): {0: (OLD, ((1, old),)), 1: (NEW, ((3, old), (4, new)))},
        ("m", "b"): {0: ({}, ((2, old),)), 1: ({}, ((5, new),))},
        ("other", "a"): {0: ({}, ((1, other),))},
    }
    history = make_history([make_series([1.0] * 9)], setups=_by_hash(measured))
    assert events_of(history) == [("m", "", 1, "os", "6.1", "6.2")]


def lengths_of(history: History) -> list[int]:
    [segments] = split(history)
    return [len(segment.values) for segment in segments]


def test_a_condition_that_differs_ends_a_segment_and_a_package_does_not() -> None:
    """A run lists some packages and all variables, unless it could not ask its environment."""
    run = {"interpreter": "CPython 3.11.7", "variable A": "1", PROCESSES: NOT_FORKED}
    torch, newer = run | {"package torch": "2.15.0"}, run | {"package torch": "2.16.0"}
    preloaded = run | {"variable LD_PRELOAD": "jemalloc.so"}
    forked = run | {PROCESSES: FORKED}
    runs = [torch, run, {}, torch, newer, preloaded, preloaded, run, forked]
    key = MACHINE, ENVIRONMENT
    conditions = (Conditions(environment="", facts=facts) for facts in runs)
    setups = _by_hash({key: {n: ({}, ((n, each),)) for n, each in enumerate(conditions)}})
    history = make_history([make_series([1.0] * len(runs))], setups=setups)
    assert events_of(history) == [
        (*key, 4, "package torch", "2.15.0", "2.16.0"),
        (*key, 5, "variable LD_PRELOAD", "", "jemalloc.so"),
        (*key, 7, "variable LD_PRELOAD", "jemalloc.so", ""),
        (*key, 8, PROCESSES, NOT_FORKED, FORKED),
    ]
    assert lengths_of(history) == [5, 2, 1, 1]


def test_a_fact_of_a_recipe_that_differs_ends_a_segment() -> None:
    recipes = ["", "rounds=2 repeat=5", "repeat=5 rounds=2", "rounds=2; asv_runner 0.3.1"]
    recipes += ["rounds=2; asv_runner 0.3.2", "", "rounds=3 repeat=5; asv_runner 0.3.2"]
    runs = [structs.replace(run_of(1.0), recipe=recipe) for recipe in recipes]
    history = make_history([make_series(runs)])
    assert events_of(history) == [
        (MACHINE, ENVIRONMENT, 4, "recipe asv_runner", "0.3.1", "0.3.2"),
        (MACHINE, ENVIRONMENT, 6, "recipe rounds", "2", "3"),
    ]
    assert lengths_of(history) == [4, 2, 1]


def noise_of(values: list[float]) -> float | None:
    [segments] = split(make_history([make_series(values)]))
    return noise_between_runs(segments)


@pytest.mark.parametrize("spread", [0.005, 0.05])
def test_noise_is_the_coefficient_of_variation_whatever_steps_add(spread: float) -> None:
    values = np.random.default_rng(2).lognormal(0.0, spread, 1000)
    assert noise_of(values.tolist()) == pytest.approx(spread, rel=0.06)
    values[300:] *= 1.3
    values[600:] *= 0.5
    values[::100] *= 4
    assert noise_of(values.tolist()) == pytest.approx(spread, rel=0.1)


@pytest.mark.parametrize("values", [[], [1.0] * 7, [1.0] * 9 + [0.0], [-1.0] * 9])
def test_noise_of_few_or_negative_values_is_unknown(values: list[float]) -> None:
    assert noise_of(values) is None
    assert noise_of([3.0] * 8) == 0


def suspected(values: Any) -> list[int]:
    """Index of the first value after each suspected change."""
    history = make_history([make_series([float(value) for value in values])])
    return sorted(change.commit for change in analyse(history).changes)


@pytest.mark.parametrize(("factor", "count"), [(1.02, 1), (1.01, 0)])
def test_a_suspicion_is_as_large_as_a_change_must_be(factor: float, count: int) -> None:
    assert len(suspected(noisy({20: factor}, noise=0.0005))) == count


@pytest.mark.parametrize("values", [[0.0] * 20 + [5.0] * 20, [1e307] * 20 + [1e306] * 20])
def test_levels_without_a_ratio_and_values_that_no_measurement_has(values: list[float]) -> None:
    assert suspected(values) == []


def test_a_single_value_is_suspected_only_while_it_is_the_newest() -> None:
    values = noisy({39: 1.5})
    assert suspected(values) == [39]
    assert suspected([*values, 1.0, 1.01]) == []
