"""Segments of a series, runs that were measured under the same conditions, and their noise.

A change of the recipe, of ``asv_runner`` or of a condition of the machine can look like a change
of speed. It is shown as an event, and ends a segment: suspicions and noise never reach across it.
Conditions are the facts of the machine, environment variables, the number of threads and how
processes are started. Installed packages are not conditions: they are what is measured, as much
as the code.

A segment ends where a fact is first *recorded* with another value than the last recorded one
(`events.recorded_changes`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from asv_watch.records.history import Floats, History, Indices
from asv_watch.records.records import PROCESSES
from asv_watch.runs.events import environments_of, recipe_changes, recorded_changes

_SOFTWARE = ("python", "requirement ")
_CONDITIONS_OF_ENVIRONMENT = ("variable ", "threads", PROCESSES)
_FEWEST_DIFFERENCES = 7
_THIRD_QUARTILE = 1.1503 * math.sqrt(2)
"""Of the sizes of differences of two normal values, in standard deviations of one of them."""


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
    segments: list[tuple[Segment, ...]] = []
    for series in history.series:
        setup = (series.machine, series.environment)
        if setup not in changes:
            changes[setup] = _condition_changes(history, setup)
        columns = series.columns.valued
        if not columns:
            segments.append(())
            continue
        commits, values = history.indices(columns), columns.values
        periods = np.searchsorted(changes[setup], commits, side="right")
        starts = {0, *(np.flatnonzero(np.diff(periods)) + 1).tolist()}
        starts |= {change.run for change in recipe_changes(columns)}
        parts = pairwise([*sorted(starts), len(values)])
        segments.append(tuple(Segment(commits[a:b], values[a:b]) for a, b in parts))
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


def noise_between_runs(segments: Sequence[Segment]) -> float | None:
    """Estimate how much the values of a series differ from one run to the next.

    It comes from the third quartile of the differences of neighbouring logarithms, which a few
    steps and spikes do not move. The samples of one run lie closer together: the next run is
    another process on another day, with another layout of memory and another load of the machine.

    Returns:
        The standard deviation of the logarithm of a value (0.01 is 1 %); ``None`` with fewer than
        seven differences, or a value that is not positive.
    """
    parts = [segment.values for segment in segments]
    if not all((values > 0).all() for values in parts):
        return None
    sizes: list[float] = [
        size for values in parts for size in np.abs(np.diff(np.log(values))).tolist()
    ]
    if len(sizes) < _FEWEST_DIFFERENCES:
        return None
    return sorted(sizes)[3 * len(sizes) // 4] / _THIRD_QUARTILE
