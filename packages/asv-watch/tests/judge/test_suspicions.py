"""Separate runs: their noise and events, and what asv's step detection suspects."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from asv import step_detect
from msgspec import structs
from msgspec.structs import astuple

from asv_watch.asv.steps import Levels, kept_levels
from asv_watch.judge.changes import NEWEST, WINDOW, analyse
from asv_watch.judge.segments import find_events, noise_between_runs, split
from tests.judge.test_changes import noisy
from tests.making import commit_hash, make_history, make_series, run_of


def events_of(facts: Any, recorded: Any = None) -> list[tuple[str, ...]]:
    """The events of facts and records, by machine and environment, then number of the commit."""
    history = make_history(
        [make_series([1.0] * 9)],
        facts=_by_hash(facts, lambda of_commit: of_commit),
        recorded=_by_hash(recorded or {}, tuple),
    )
    return [astuple(event) for event in find_events(history)]


def _by_hash(of_setups: Any, kept: Callable[[Any], Any]) -> Any:
    return {
        setup: {commit_hash(number): kept(value) for number, value in by_commit.items()}
        for setup, by_commit in of_setups.items()
    }


def test_a_fact_is_compared_with_the_last_commit_that_recorded_it() -> None:
    facts = {0: {"os": "6.1", "gpu": "none"}, 2: {"os": "6.2", "gpu": "none"}, 3: {"os": "6.2"}}
    facts |= {5: {"os": "6.2", "gpu": "none", "driver": "600"}, 7: {"gpu": "two"}}
    assert events_of({("m", "e"): facts}) == [
        ("m", "", commit_hash(2), "os", "6.1", "6.2"),
        ("m", "", commit_hash(7), "gpu", "none", "two"),
    ]


def test_a_change_of_the_machine_is_one_event_for_all_environments() -> None:
    old, new = {"os": "6.1"}, {"os": "6.2"}
    assert events_of(
        {("m", "a"): {0: old, 2: new, 4: old}, ("m", "b"): {0: old, 1: old, 3: new, 4: old}}
    ) == [
        ("m", "", commit_hash(2), "os", "6.1", "6.2"),
        ("m", "", commit_hash(4), "os", "6.2", "6.1"),
    ]


def test_facts_of_an_environment_are_its_own() -> None:
    facts = {
        ("m", "a"): {
            0: {"python": "3.11", "variable X": "1"},
            1: {"python": "3.12", "variable X": "2"},
        },
        ("m", "b"): {0: {"python": "3.11"}, 1: {"python": "3.11"}},
    }
    assert events_of(facts) == [
        ("m", "a", commit_hash(1), "python", "3.11", "3.12"),
        ("m", "a", commit_hash(1), "variable X", "1", "2"),
    ]


def test_an_environment_measured_for_the_first_time_later_on() -> None:
    facts: dict[Any, Any] = {
        ("m", "a"): {0: {}, 1: {}},
        ("m", "b"): {1: {}, 2: {}},
        ("other", "b"): {2: {}},
    }
    assert events_of(facts) == [("m", "b", commit_hash(1), "environment", "", "b")]


@pytest.mark.parametrize(
    ("recipes", "change"),
    [
        (["rounds=2", "rounds=3"], ("recipe rounds", "2", "3")),
        (
            ["rounds=2; asv_runner 0.3.1", "rounds=2; asv_runner 0.3.2"],
            ("recipe asv_runner", "0.3.1", "0.3.2"),
        ),
        (["rounds=2", "rounds=2; asv_runner 0.3.2"], None),
        (["", "rounds=3"], None),
        (["rounds=2 repeat=5", "repeat=5 rounds=2"], None),
        (["rounds=2", "", "rounds=3"], ("recipe rounds", "2", "3")),
    ],
)
def test_a_fact_of_a_recipe_that_differs_is_an_event_and_ends_a_segment(
    recipes: list[str], change: tuple[str, str, str] | None
) -> None:
    runs = [structs.replace(run_of(1.0), recipe=recipe) for recipe in recipes]
    history = make_history([make_series(runs)])
    events = [astuple(event)[3:] for event in find_events(history)]
    assert events == ([change] if change else [])
    [segments] = split(history)
    lengths = [len(recipes) - 1, 1] if change else [len(recipes)]
    assert [len(segment.values) for segment in segments] == lengths


def noise_of(values: list[float]) -> float | None:
    [segments] = split(make_history([make_series(values)]))
    return noise_between_runs(segments)


@pytest.mark.parametrize("spread", [0.005, 0.05])
def test_it_is_the_coefficient_of_variation_whatever_a_few_steps_and_spikes_add(
    spread: float,
) -> None:
    values = np.random.default_rng(2).lognormal(0.0, spread, 1000)
    assert noise_of(values.tolist()) == pytest.approx(spread, rel=0.06)
    values[300:] *= 1.3
    values[600:] *= 0.5
    values[::100] *= 4
    assert noise_of(values.tolist()) == pytest.approx(spread, rel=0.1)


@pytest.mark.parametrize("values", [[], [1.0] * 7, [1.0] * 9 + [0.0], [-1.0] * 9])
def test_of_too_few_values_or_those_without_a_logarithm_it_is_unknown(values: list[float]) -> None:
    assert noise_of(values) is None
    assert noise_of([3.0] * 8) == 0


def suspected(values: Any, levels: Levels | None = None) -> list[int]:
    """Index of the first value after each suspected change."""
    history = make_history([make_series([float(value) for value in values])])
    return sorted(change.commit for change in analyse(history, levels).changes)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of values of each call of asv's step detection."""
    lengths: list[int] = []
    detect_steps = step_detect.detect_steps

    def counted(values: list[float]) -> Any:
        lengths.append(len(values))
        return detect_steps(values)

    monkeypatch.setattr(step_detect, "detect_steps", counted)
    return lengths


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


def test_steps_of_a_long_history_are_found_wherever_they_are() -> None:
    places = [20, 160, 175, 330, 480, 640, 790]
    values = noisy({at: 1.2 if number % 2 else 0.8 for number, at in enumerate(places)}, 800)
    assert suspected(values) == places


def test_a_new_run_is_looked_at_while_it_or_a_neighbour_is_out_of_range(looks: list[int]) -> None:
    values = [1.0 + number % 7 / 1000 for number in range(300)] + [1.2] * 10
    levels = Levels()
    assert suspected(values[:300], levels) == []
    assert suspected(values[:301], levels) == [300]
    assert max(looks) <= WINDOW
    looks.clear()
    for count in range(302, 311):
        assert suspected(values[:count], levels) == [300]
    assert len(looks) == NEWEST - 1


def test_levels_are_kept_in_a_file_with_the_same_answer(looks: list[int], tmp_path: Path) -> None:
    values = noisy({200: 1.3}, 400)

    def publish() -> list[int]:
        with kept_levels(tmp_path / "new" / "folder") as levels:
            return suspected(values, levels)

    expected = suspected(values)
    found = len(looks)
    assert [publish() for _ in range(3)] == [expected] * 3
    assert len(looks) == 2 * found
    [path] = tmp_path.rglob("*.msgpack")
    content = path.read_bytes()
    for spoilt in (bytes(16) + content[16:], content[:-10], b""):
        looks.clear()
        path.write_bytes(spoilt)
        assert publish() == expected
        assert len(looks) == found


def test_levels_that_cannot_be_kept_are_found_again(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with kept_levels(tmp_path / "file" / "folder") as levels:
        assert suspected(noisy({20: 1.3}), levels) == [20]
