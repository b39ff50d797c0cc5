"""Segments of a series, runs that were measured under the same conditions, and their noise.

A change of the recipe, of ``asv_runner`` or of a condition of the machine can look like a change
of speed. It is shown as an event, and ends a segment: change points, noise and comparisons never
reach across it. Conditions are the facts of the machine, environment variables, the number of
threads and how processes are started. Installed packages are not conditions: they are
what is measured, as much as the code.

A segment ends where a fact is first *recorded* with another value than the last recorded one
(`events.recorded_changes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from asv_watch.records.columns import Floats, Indices
from asv_watch.records.history import History, Series
from asv_watch.records.side_files import PROCESSES
from asv_watch.runs.events import environments_of, recipe_changes, recorded_changes
from asv_watch.runs.noise import (
    OwnNoise,
    informed_noise,
    middle_and_spread,
    own_noise,
    pooled_noise,
)

_SOFTWARE = ("python", "requirement ")
_CONDITIONS_OF_ENVIRONMENT = ("variable ", "threads", PROCESSES)


@dataclass(frozen=True, eq=False)
class Segment:
    """Consecutive values of a series under the same conditions; at least one."""

    commits: Indices
    """For each value the index of its commit in the history, increasing."""
    values: Floats
    """In the unit of the series."""


def split(history: History) -> tuple[tuple[Segment, ...], ...]:
    """Split every series of a history into segments, oldest first; a series may have no values."""
    changes: dict[tuple[str, str], Indices] = {}
    segments = []
    for series in history.series:
        setup = (series.machine, series.environment)
        if setup not in changes:
            changes[setup] = _condition_changes(history, setup)
        segments.append(_split_series(history, series, changes[setup]))
    return tuple(segments)


def _condition_changes(history: History, setup: tuple[str, str]) -> Indices:
    """Return the indices of the commits at which the conditions of a setup change, in order.

    If a commit has several runs, the conditions of the last one count.
    """
    stored = history.facts.get(setup, {})
    runs = [(commit, records[-1]) for commit, records in history.recorded.get(setup, {}).items()]
    changes = [
        *(
            change
            for change in recorded_changes(stored.items())
            if not change.fact.startswith(_SOFTWARE)
        ),
        *recorded_changes((commit, record.machine) for commit, record in runs),
        *(
            change
            for change in recorded_changes(environments_of(runs))
            if change.fact.startswith(_CONDITIONS_OF_ENVIRONMENT)
        ),
    ]
    return np.array(sorted({history.order[change.run] for change in changes}), np.intp)


def _split_series(
    history: History, series: Series, condition_changes: Indices
) -> tuple[Segment, ...]:
    """Split one series."""
    columns = series.columns.valued
    if not columns:
        return ()
    commits, values = history.indices(columns), columns.values
    periods = np.searchsorted(condition_changes, commits, side="right")
    starts = {0, *(np.flatnonzero(np.diff(periods)) + 1).tolist()}
    starts |= {change.run for change in recipe_changes(columns)}
    return tuple(
        Segment(commits[start:end], values[start:end])
        for start, end in pairwise([*sorted(starts), len(values)])
    )


def known_noise(
    history: History, segments: Sequence[Sequence[Segment]]
) -> tuple[float | None, ...]:
    """Work out the noise between runs of each series of a history, as far as it is known.

    It comes from the first of these that exists:

    1.  at least seven differences of neighbouring values within the segments of the series,
        together with the noise of other cases (`informed_noise`);
    2.  at least twenty differences from at least five series with the same metric on the machine:
        the largest of the estimates from their median, third quartile and ninth decile, so that
        noisier cases than most count.

    Returns:
        For each series the standard deviation of the logarithm of a value, or ``None``.
    """
    own = [
        own_noise(segment.values for segment in series_segments) for series_segments in segments
    ]
    metrics = [
        (series.machine, series.case.labels.get("metric", ""), series.unit)
        for series in history.series
    ]
    noises_by_metric: dict[tuple[str, str, str], list[OwnNoise]] = {}
    for metric, series_noise in zip(metrics, own, strict=True):
        if series_noise.count:
            noises_by_metric.setdefault(metric, []).append(series_noise)
    pooled = {metric: pooled_noise(members) for metric, members in noises_by_metric.items()}
    others = {metric: middle_and_spread(members) for metric, members in noises_by_metric.items()}
    noises: list[float | None] = []
    for metric, series_noise in zip(metrics, own, strict=True):
        noise = informed_noise(series_noise, others.get(metric))
        noises.append(pooled.get(metric) if noise is None else noise)
    return tuple(noises)
