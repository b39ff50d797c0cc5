"""Versions of benchmarks: what is measured, and how it is sampled."""

from __future__ import annotations

from asv_watch.records.records import code_version, recipe_facts, recipe_of

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
