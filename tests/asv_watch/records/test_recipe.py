"""Versions of benchmarks: what is measured, and how it is sampled."""

from __future__ import annotations

import pytest

from asv_watch.records.records import (
    code_version,
    differing_facts,
    recipe_facts,
    recipe_of,
)

VERSION = "1; rounds=3 repeat=3,20,2.5; asv_runner 0.3.2"


def test_a_version_has_a_code_part_and_a_recipe() -> None:
    assert code_version(VERSION) == "1"
    assert recipe_of(VERSION) == "rounds=3 repeat=3,20,2.5; asv_runner 0.3.2"
    assert (code_version("2"), recipe_of("2")) == ("2", "")
    assert recipe_facts(recipe_of(VERSION)) == {
        "rounds": "3",
        "repeat": "3,20,2.5",
        "asv_runner": "0.3.2",
    }
    assert recipe_facts("") == {}


@pytest.mark.parametrize(
    ("before", "after", "facts"),
    [
        ("rounds=2", "rounds=3", {"rounds": ("2", "3")}),
        (
            "rounds=2; asv_runner 0.3.1",
            "rounds=2; asv_runner 0.3.2",
            {"asv_runner": ("0.3.1", "0.3.2")},
        ),
        ("rounds=2", "rounds=2; asv_runner 0.3.2", {}),
        ("", "rounds=3", {}),
        ("rounds=3", "", {}),
        ("rounds=2 repeat=5", "repeat=5 rounds=2", {}),
    ],
    ids=["fact", "asv_runner", "recorded from now on", "first", "not recorded", "order"],
)
def test_recipes_differ_in_the_facts_that_both_name(
    before: str, after: str, facts: dict[str, tuple[str, str]]
) -> None:
    assert differing_facts(before, after) == facts
