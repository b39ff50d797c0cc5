"""What the detectors of `torchspeed.watch.analysis` find in a history, by commit index."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from torchspeed.watch.analysis.events import find_events
from torchspeed.watch.analysis.machine_steps import machine_steps
from torchspeed.watch.analysis.noise import known_noise
from torchspeed.watch.analysis.steps import SeriesStep, steps_of
from torchspeed.watch.history.records import History, Series
from torchspeed.watch.site import names
from torchspeed.watch.site.standing import Cause, Change, Event, Findings, Level

_WORTH_A_POOL = 20_000  # figures: below, starting processes costs more than it saves

Steps = tuple[SeriesStep, ...]


def detect(history: History) -> Findings:
    """Find the levels of every series, the changes between them, and the events."""
    place = {commit.hash: index for index, commit in enumerate(history.commits)}
    every = _all_steps(history.series)
    events = _events(history, place)
    machines = _steps_of_machines(history, every, place)
    # What is not confirmed is neither shown as a change nor drawn as a level.
    steps = tuple(tuple(one for one in found if one.step.confirmed) for found in every)
    changes = [
        Change(
            series=index,
            commit=place[one.commit],
            previous=place[one.previous],
            before=one.step.before,
            after=one.step.after,
            verdict="better" if one.verdict == "better" else "worse",
            cause=_cause(series, one, place, events, (index, one.commit) in machines),
            z=one.step.z,
            since=one.step.values_after,
        )
        for index, series in enumerate(history.series)
        for one in steps[index]
    ]
    changes.sort(key=lambda change: (-change.commit, change.series))
    return Findings(
        steps=steps,
        levels=tuple(
            _levels(series, found, place)
            for series, found in zip(history.series, steps, strict=True)
        ),
        noise=tuple(map(known_noise(history), history.series)),
        changes=tuple(changes),
        events=events,
    )


def _all_steps(series: Sequence[Series]) -> tuple[Steps, ...]:
    """The steps of each series; on all cores where there is much to do.

    The processes are forked, so that they share the history without a copy.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    figures = sum(len(one.runs) for one in series)
    if figures < _WORTH_A_POOL or not cores or cores < 2:
        return tuple(steps_of(one) for one in series)
    context = multiprocessing.get_context("fork")
    with context.Pool(cores, initializer=_share, initargs=(series,)) as pool:
        return tuple(pool.map(_steps_of_shared, range(len(series)), chunksize=4))


_shared: Sequence[Series] = ()


def _share(series: Sequence[Series]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent, interrupted, stops its workers
    global _shared  # noqa: PLW0603 - how a forked worker gets what is not worth pickling
    _shared = series


def _steps_of_shared(index: int) -> Steps:
    return steps_of(_shared[index])


def _levels(series: Series, steps: Steps, place: dict[str, int]) -> tuple[Level, ...]:
    figures = series.values
    commits, values = list(figures), list(figures.values())
    if not values:
        return ()
    edges = [0, *(one.step.position for one in steps), len(values)]
    return tuple(
        Level(place[commits[start]], place[commits[end - 1]], median(values[start:end]))
        for start, end in pairwise(edges)
    )


def _steps_of_machines(
    history: History, steps: Sequence[Steps], place: dict[str, int]
) -> set[tuple[int, str]]:
    """Series and commit of every step that is its machine's: of each member the nearest."""
    found = set()
    for shared in machine_steps(history, dict(enumerate(steps))):
        for member in shared.members:
            alike = [one for one in steps[member] if (one.step.ratio > 1) == (shared.ratio > 1)]
            nearest = min(alike, key=lambda one: abs(place[one.commit] - place[shared.commit]))
            found.add((member, nearest.commit))
    return found


def _cause(
    series: Series,
    step: SeriesStep,
    place: dict[str, int],
    events: Sequence[Event],
    is_machines: bool,
) -> Cause:
    """Who made a step: an event that lies within it outranks a vote, the rest is the code's."""
    span = range(place[step.previous] + 1, place[step.commit] + 1)
    for event in events:
        concerns = event.machine == series.machine and event.environment in {
            "",
            series.environment,
        }
        if concerns and event.commit in span and event.kind != "environment":
            return "environment"
    return "machine" if is_machines else "code"


def _events(history: History, place: dict[str, int]) -> tuple[Event, ...]:
    events = []
    labels = names.environment_labels(history.environments.values())
    for one in find_events(history):
        if one.fact == "environment":
            text = f"first measured with {labels[one.environment]}"
        else:
            text = f"{one.fact}: {one.before or 'nothing'} → {one.after or 'nothing'}"
        events.append(Event(place[one.commit], one.machine, one.environment, one.fact, text))
    return tuple(events)
