from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs
from msgspec.structs import astuple

from asv_watch.runs.events import find_events
from asv_watch.runs.segments import split
from tests.making import commit_hash, make_history, make_series, run_of


def history_of(facts: Any) -> Any:
    """(machine, environment) to {number of the commit: facts}."""
    return make_history(
        [make_series([1.0] * 9)],
        facts={
            series: {commit_hash(number): messages for number, messages in by_commit.items()}
            for series, by_commit in facts.items()
        },
    )


def events_of(facts: Any) -> Any:
    return [astuple(event) for event in find_events(history_of(facts))]


def test_facts_that_stay_are_no_events() -> None:
    same = {"os": "Linux 6.1", "python": "3.11"}
    assert events_of({("m", "e"): {0: same, 1: dict(same), 2: same}}) == []
    assert events_of({}) == []


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
        (["rounds=3", ""], None),
        (["rounds=2 repeat=5", "repeat=5 rounds=2"], None),
        (["rounds=2", "", "rounds=3"], ("recipe rounds", "2", "3")),
    ],
    ids=[
        "fact",
        "asv_runner",
        "recorded from now on",
        "first",
        "not recorded",
        "order",
        "between",
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
