"""Everything that the analysis says about a history, worked out once.

The pages, the data files, the reports and the nightly read it, so that all of them say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from asv_watch.judge.causes import with_cause
from asv_watch.judge.changes import Cause, Change, State, changes_of
from asv_watch.judge.events import Event, find_events
from asv_watch.judge.machine_steps import machine_steps
from asv_watch.judge.reference_series import points_by_series
from asv_watch.judge.release_history import ReleaseHistory, release_histories
from asv_watch.judge.releases import Releases, compare_releases
from asv_watch.judge.segments import Segment, split
from asv_watch.judge.series_noise import MachineNoise, known_noise, machine_noise, own_noises
from asv_watch.records.history import History
from asv_watch.records.notes import ChangeNote, Notes
from asv_watch.statistics.block_cache import BlockCache
from asv_watch.statistics.noise import median_of

Segments = tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Level:
    """A stretch of a series without a confirmed change, under the same conditions."""

    first: int
    """Index in the history's commits of its first one."""
    last: int
    value: float
    """Median of its values."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What the analysis says about a history; tuples with an entry a series are in its order."""

    segments: tuple[Segments, ...]
    """For each series: runs under the same conditions. Nothing is compared across their ends."""
    noise: tuple[float | None, ...]
    """For each series: standard deviation of the logarithm of a value between runs, if known."""
    levels: tuple[tuple[Level, ...], ...]
    """For each series."""
    changes: tuple[Change, ...] = ()
    """Of all series: the newest commit first, refuted ones too."""
    events: tuple[Event, ...] = ()
    """Oldest commit first."""
    releases: tuple[Releases, ...] = ()
    """For each machine that measured several torch releases at one commit."""
    release_histories: tuple[ReleaseHistory, ...] = ()
    """For each machine that compared torch releases interleaved."""
    machine_noise: tuple[MachineNoise, ...] = ()
    """For each machine, device and metric."""


def analyse(history: History, cache: BlockCache | None = None) -> Findings:
    """Work out the noise, changes, events and release comparisons of a history.

    Args:
        history: The history.
        cache: What is known from the last time.
    """
    place = history.order
    segments = split(history)
    own = own_noises(segments)
    noise = known_noise(history, own)
    in_order = iter(
        (cache or BlockCache()).find_all(
            [segment.values for of_series in segments for segment in of_series]
        )
    )
    steps = [[next(in_order) for _ in of_series] for of_series in segments]
    events = find_events(history)
    of_machines = machine_steps(
        history,
        [
            {
                int(segment.commits[step.position]): step
                for segment, of_segment in zip(of_series, of_steps, strict=True)
                for step in of_segment
            }
            for of_series, of_steps in zip(segments, steps, strict=True)
        ],
    )
    notes = history.notes or Notes()
    changes = []
    points = points_by_series(history)
    for index, of_series in enumerate(segments):
        series = history.series[index]
        torch = history.environments[series.environment].torch
        ratios = points.get((series.machine, series.case.name, torch), {})
        if series.unit != "seconds":
            ratios = {}
        for change in changes_of(index, of_series, steps[index], noise[index], history, ratios):
            cause = _cause(history, change, events, place, of_machines)
            note = _note(history, change, notes)
            changes.append(replace(with_cause(history, change), cause=cause, note=note))
    starts: list[list[int]] = [[] for _ in segments]
    for change in changes:
        if change.state is State.CONFIRMED:
            starts[change.series].append(change.commit)
    changes.sort(key=lambda change: (-change.commit, change.series))
    return Findings(
        segments=segments,
        noise=noise,
        levels=tuple(
            _levels(of_series, of_starts)
            for of_series, of_starts in zip(segments, starts, strict=True)
        ),
        changes=tuple(changes),
        events=events,
        releases=compare_releases(history, noise),
        release_histories=release_histories(history.comparisons),
        machine_noise=machine_noise(history, own),
    )


def _levels(segments: Segments, starts: Sequence[int]) -> tuple[Level, ...]:
    """List the levels of a series, whose confirmed changes start at some commits, oldest first."""
    levels = []
    for segment in segments:
        commits, values = segment.commits, segment.values
        inner = np.flatnonzero(np.isin(commits, starts)).tolist()
        levels += [
            Level(int(commits[start]), int(commits[end - 1]), median_of(values[start:end]))
            for start, end in pairwise(sorted({0, *inner, len(values)}))
        ]
    return tuple(levels)


def _cause(
    history: History,
    change: Change,
    events: Sequence[Event],
    place: Mapping[str, int],
    of_machines: set[tuple[int, int]],
) -> Cause:
    """Return what made a change: an event within it outranks the vote of other series."""
    series = history.series[change.series]
    for event in events:
        concerns = event.machine == series.machine and event.environment in {
            "",
            series.environment,
        }
        within = change.previous < place[event.commit] <= change.commit
        if concerns and within and event.fact != "environment":
            return "environment"
    return "machine" if (change.series, change.commit) in of_machines else "code"


def _note(history: History, change: Change, notes: Notes) -> ChangeNote | None:
    if not notes.changes:
        return None
    series = history.series[change.series]
    after, until = (
        history.positions[history.commits[commit].hash]
        for commit in (change.previous, change.commit)
    )
    return notes.about(series.machine, series.case.name, after, until)
