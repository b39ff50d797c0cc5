"""Segments of a series: runs that were measured under the same conditions.

A change of the recipe, of ``asv_runner`` or of a condition of the machine can look like a change
of speed. It is shown as an event, and ends a segment: change points, noise and comparisons never
reach across it. Conditions are the facts of the machine, environment variables and the number of
threads. Installed packages are no conditions: they are what is measured, as much as the code.

A fact that was not recorded says nothing: a segment ends where a fact is first *recorded* with
another value than the last recorded one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from torchspeed.watch.history.history import History
from torchspeed.watch.history.recipe import differing_facts, recipe_facts
from torchspeed.watch.history.records import Point, Record, Series

_OF_ENVIRONMENT = ("python", "requirement ")
_CONDITIONS_OF_ENVIRONMENT = ("variable ", "threads")


@dataclass(frozen=True)
class Segment:
    """Consecutive runs of a series under the same conditions; at least one."""

    points: dict[str, Point]
    """Commit hash to point, oldest first."""
    recipe: str
    """How the samples were taken, as far as the runs recorded it."""

    @property
    def commits(self) -> list[str]:
        """Hashes of the commits, oldest first."""
        return list(self.points)

    @cached_property
    def values(self) -> list[float]:
        """The values, oldest first."""
        return [point.value for point in self.points.values()]


def split(history: History) -> tuple[tuple[Segment, ...], ...]:
    """Split every series of a history into segments, oldest first; none for one without values."""
    periods = {place: _periods(history, place) for place in history.facts}
    return tuple(
        _split_series(series, periods.get((series.machine, series.environment), {}))
        for series in history.series
    )


def _periods(history: History, place: tuple[str, str]) -> dict[str, int]:
    """Number the periods of unchanged conditions that the measured commits belong to."""
    numbers: dict[str, int] = {}
    known: dict[str, str] = {}
    number = 0
    recorded = history.recorded.get(place, {})
    for commit, facts in history.facts[place].items():
        conditions = _conditions(facts, recorded.get(commit, ()))
        if any(known.get(name, value) != value for name, value in conditions.items()):
            number += 1
        known |= conditions
        numbers[commit] = number
    return numbers


def _conditions(facts: Mapping[str, str], records: Sequence[Record]) -> dict[str, str]:
    """Return the conditions that a commit was measured under, as its last run recorded them.

    Args:
        facts: What asv stores with the results.
        records: What the runs recorded themselves; they name the same facts in another way.
    """
    stored = {
        f"stored {name}": value
        for name, value in facts.items()
        if not name.startswith(_OF_ENVIRONMENT)
    }
    if not records:
        return stored
    environment = {
        name: value
        for name, value in records[-1].environment.items()
        if name.startswith(_CONDITIONS_OF_ENVIRONMENT)
    }
    return stored | records[-1].machine | environment


def _split_series(series: Series, periods: Mapping[str, int]) -> tuple[Segment, ...]:
    recipes = {run.recipe for run in series.runs.values() if run.point is not None}
    if len(recipes) == 1 and len(set(map(periods.get, series.points))) == 1:
        return (Segment(series.points, *recipes),)
    segments: list[Segment] = []
    points: dict[str, Point] = {}
    recipe, period = "", None
    for commit, run in series.runs.items():
        if run.point is None:
            continue
        here = periods.get(commit)
        is_same = here == period and recipe == run.recipe
        if points and not is_same and (here != period or differing_facts(recipe, run.recipe)):
            segments.append(Segment(points, recipe))
            points, recipe = {}, ""
        points[commit] = run.point
        if not is_same:
            recipe = _together(recipe, run.recipe)
            period = here
    if points:
        segments.append(Segment(points, recipe))
    return tuple(segments)


def _together(known: str, recorded: str) -> str:
    """Return a recipe with the facts of both; the recorded one where it has all of them."""
    if known == recorded or not known or not recorded:
        return known or recorded
    facts = {**recipe_facts(known), **recipe_facts(recorded)}
    return "; ".join(f"{name} {value}" for name, value in facts.items())
