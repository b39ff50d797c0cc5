"""The recipe of a result: how its samples were taken.

A benchmark's version is ``"<code version>; <recipe>"``. The part before the first semicolon
changes with what is measured: a stored result with another one does not belong to the benchmark
any more. The rest is the recipe, such as ``rounds=3 repeat=3,20,2.5; asv_runner 0.3.2``: results
of another recipe stay in the series, but nothing is compared across the change.
"""

from __future__ import annotations

from functools import lru_cache


def code_version(version: str) -> str:
    """Return the part of a version that says what is measured."""
    return version.partition(";")[0].strip()


def recipe_of(version: str) -> str:
    """Return the part of a version that says how it is measured; empty if it was not recorded."""
    return version.partition(";")[2].strip()


@lru_cache(maxsize=1024)
def recipe_facts(recipe: str) -> dict[str, str]:
    """Return the facts of a recipe by name: ``{"rounds": "3", "asv_runner": "0.3.2"}``."""
    facts: dict[str, str] = {}
    for part in recipe.split(";"):
        words = part.split()
        if words and all("=" in word for word in words):
            facts |= {name: value for name, _, value in (word.partition("=") for word in words)}
        elif words:
            facts[words[0]] = " ".join(words[1:])
    return facts


def differing_facts(before: str, after: str) -> dict[str, tuple[str, str]]:
    """Return the facts that two recipes both name and that differ: name to both values.

    A fact that only one of them names is not known to differ.
    """
    if before == after:
        return {}
    old, new = recipe_facts(before), recipe_facts(after)
    return {name: (old[name], new[name]) for name in old if name in new and old[name] != new[name]}
