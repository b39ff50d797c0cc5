"""Segments of a series, runs that were measured under the same conditions, and their noise.

A change of the recipe, of ``asv_runner`` or of a condition of the machine can look like a change
of speed. It is shown as an event, and ends a segment: change points, noise and comparisons never
reach across it. Conditions are the facts of the machine, environment variables, the number of
threads and how processes are started. Installed packages are no conditions: they are what is
measured, as much as the code.

A fact that was not recorded is ignored: a segment ends where a fact is first *recorded* with
another value than the last recorded one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from asv_watch.records.history import Floats, History, Indices, Series
from asv_watch.records.records import Record, differing_facts, recipe_facts
from asv_watch.records.side_files import PROCESSES
from asv_watch.statistics.noise import (
    OwnNoise,
    informed_noise,
    middle_and_spread,
    own_noise,
    pooled_noise,
)

_OF_ENVIRONMENT = ("python", "requirement ")
_CONDITIONS_OF_ENVIRONMENT = ("variable ", "threads", PROCESSES)


@dataclass(frozen=True, eq=False)
class Segment:
    """Consecutive values of a series under the same conditions; at least one."""

    commits: Indices
    """For each value the index of its commit in the history, increasing."""
    values: Floats
    """In the unit of the series."""
    recipe: str
    """How the samples were taken, as far as the runs recorded it."""


def split(history: History) -> tuple[tuple[Segment, ...], ...]:
    """Split every series of a history into segments, oldest first; none for one without values."""
    periods: dict[tuple[str, str, tuple[str, ...]], Indices] = {}
    segments = []
    for series in history.series:
        machine, environment, measured = series.machine, series.environment, series.columns.commits
        key = (machine, environment, measured)
        if key not in periods:
            numbers = _periods(history, (machine, environment))
            periods[key] = np.array([numbers.get(commit, -1) for commit in measured], np.intp)
        segments.append(_split_series(history, series, periods[key]))
    return tuple(segments)


def _periods(history: History, setup: tuple[str, str]) -> dict[str, int]:
    """Number the periods of unchanged conditions that the measured commits belong to."""
    numbers: dict[str, int] = {}
    known: dict[str, str] = {}
    number = 0
    recorded = history.recorded.get(setup, {})
    latest: tuple[dict[str, str], Sequence[Record]] | None = None
    for commit, facts in history.facts.get(setup, {}).items():
        of_commit = (facts, recorded.get(commit, ()))
        if of_commit != latest:
            latest = of_commit
            conditions = _conditions(*of_commit)
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


def _split_series(history: History, series: Series, periods: Indices) -> tuple[Segment, ...]:
    """Split one series."""
    columns = series.columns.valued
    if not columns.rows:
        return ()
    commits, values = history.indices(columns), columns.values
    of_rows: list[int] = periods[columns.indices].tolist()
    starts = [0]
    recipes: list[str] = []
    known, recipe = of_rows[0], ""
    for row, (period, run) in enumerate(zip(of_rows, columns.rows, strict=True)):
        recorded = run.recipe
        if period == known and recorded == recipe:
            continue
        if period != known or differing_facts(recipe, recorded):
            starts.append(row)
            recipes.append(recipe)
            recipe = ""
        known, recipe = period, _together(recipe, recorded)
    return tuple(
        Segment(commits[start:end], values[start:end], of_segment)
        for (start, end), of_segment in zip(
            pairwise([*starts, len(values)]), [*recipes, recipe], strict=True
        )
    )


def _together(known: str, recorded: str) -> str:
    """Return a recipe with the facts of both; the recorded one where it has all of them."""
    if known == recorded or not known or not recorded:
        return known or recorded
    facts = {**recipe_facts(known), **recipe_facts(recorded)}
    return "; ".join(f"{name} {value}" for name, value in facts.items())


def known_noise(
    history: History, segments: Sequence[Sequence[Segment]]
) -> tuple[float | None, ...]:
    """Noise between runs of each series of a history, as far as it is known.

    It comes from the first of these that there is:

    1.  the differences of neighbouring values within the segments of the series, seven at least,
        together with what the noise of other cases tells (`informed_noise`);
    2.  the differences of all series with the same metric on the machine, twenty at least from
        five series: the largest of the estimates from their median, third quartile and ninth
        decile, so that noisier cases than most count.

    Returns:
        For each series the standard deviation of the logarithm of a value, or ``None``.
    """
    own = [own_noise(segment.values for segment in of_series) for of_series in segments]
    metrics = [
        (series.machine, series.case.labels.get("metric", ""), series.unit)
        for series in history.series
    ]
    of_metric: dict[tuple[str, str, str], list[OwnNoise]] = {}
    for metric, of_series in zip(metrics, own, strict=True):
        if of_series.count:
            of_metric.setdefault(metric, []).append(of_series)
    pooled = {metric: pooled_noise(members) for metric, members in of_metric.items()}
    others = {metric: middle_and_spread(members) for metric, members in of_metric.items()}
    noises: list[float | None] = []
    for metric, of_series in zip(metrics, own, strict=True):
        noise = informed_noise(of_series, others.get(metric))
        noises.append(pooled.get(metric) if noise is None else noise)
    return tuple(noises)
