"""Everything that the analysis concludes from a history, worked out once.

The pages, the data files, the reports and the nights read it, so that all of them say the same.
"""

from collections.abc import Mapping, Sequence

import msgspec

from asv_watch.asv.steps import Levels
from asv_watch.judge.causes import explained_between
from asv_watch.judge.changes import (
    Cause,
    Change,
    MeasuredCommits,
    exact_changes,
    kind_of,
    measured_changes,
    suspected_changes,
    unconfirmed_changes,
)
from asv_watch.judge.graph import Detectable, MachineGraphs, smallest_changes
from asv_watch.judge.release_history import ReleaseHistory, release_histories
from asv_watch.judge.segments import Event, Segment, find_events, noise_between_runs, split
from asv_watch.records.history import History
from asv_watch.versions.version import Release

Segments = tuple[Segment, ...]


class Findings(msgspec.Struct, frozen=True):
    """The conclusions about a history; tuples with an entry for each series have its order."""

    segments: tuple[Segments, ...]
    """The segments of each series: runs under the same conditions, compared only within them."""
    noise: tuple[float | None, ...]
    """The noise of each series: standard deviation of a value's logarithm between runs, if
    known."""
    changes: tuple[Change, ...] = ()
    """Measured and suspected changes of times and memory, the newest commit first."""
    dismissed: tuple[Change, ...] = ()
    """Suspected changes that a note calls false alarms; they are not in `changes`."""
    near: tuple[Change, ...] = ()
    """Ratios of one sitting that are nearly a change; they are measured again, not claimed."""
    exact_changes: tuple[Change, ...] = ()
    """Changes of exact values, the newest commit first."""
    graphs: Mapping[str, MachineGraphs] = msgspec.field(default_factory=dict)
    """Maps a machine to the graphs of all its comparisons."""
    compared: Mapping[int, MeasuredCommits] = msgspec.field(default_factory=dict)
    """Maps the index of a series to its compared commits."""
    detectable: Mapping[str, Detectable] = msgspec.field(default_factory=dict)
    """Maps a machine to the smallest changes that its interleaved comparisons can show."""
    events: tuple[Event, ...] = ()
    """Oldest commit first."""
    release_histories: tuple[ReleaseHistory, ...] = ()
    """For each machine and requirement whose releases it compared."""


def analyse(history: History, levels: Levels | None = None) -> Findings:
    """Work out the noise, changes, events and release comparisons of a history."""
    levels = levels or Levels()
    segments = split(history)
    events = find_events(history)
    graphs = {
        machine: MachineGraphs(comparisons) for machine, comparisons in history.comparisons.items()
    }
    compared = _compared(history, graphs)
    changes: list[Change] = []
    near: list[Change] = []
    exact: list[Change] = []
    for index, series in enumerate(history.series):
        kind = kind_of(history.benchmarks[series.case.benchmark])
        if kind == "exact":
            exact += exact_changes(history, index)
        elif kind is not None:
            if index in compared:
                changes += measured_changes(history, index, kind, compared[index])
                near += unconfirmed_changes(history, index, kind, compared[index])
            else:
                changes += suspected_changes(history, index, kind, segments[index], levels)

    def complete(changes: Sequence[Change]) -> tuple[Change, ...]:
        newest_first = sorted(changes, key=lambda change: (-change.commit, change.series))
        return tuple(_explained(history, change, events) for change in newest_first)

    judged = complete(changes)
    return Findings(
        segments=segments,
        noise=tuple(map(noise_between_runs, segments)),
        changes=tuple(change for change in judged if not change.is_dismissed),
        dismissed=tuple(change for change in judged if change.is_dismissed),
        near=tuple(sorted(near, key=lambda change: (-change.commit, change.series))),
        exact_changes=complete(exact),
        graphs=graphs,
        compared=compared,
        detectable={
            machine: detectable
            for machine, of_machine in graphs.items()
            if (detectable := smallest_changes(of_machine.comparisons, of_machine)).by_case
        },
        events=events,
        release_histories=release_histories(graphs, history.versions),
    )


def _compared(history: History, graphs: Mapping[str, MachineGraphs]) -> dict[int, MeasuredCommits]:
    """Map the index of a series to its compared commits.

    If a machine measured a case in several environments with one release and Python, the commits
    belong to the environment that measured the newest commit.
    """
    newest: dict[tuple[str, str, Release, str], tuple[int, int]] = {}
    for index, series in enumerate(history.series):
        measured = history.indices(series.columns)
        environment = history.environments[series.environment]
        key = series.machine, series.case.name, environment.release, environment.python
        last = int(measured[-1]) if len(measured) else -1
        newest[key] = max(newest.get(key, (-1, -1)), (last, index))
    positions = {
        commit: position
        for commit, position in history.positions.items()
        if commit in history.order
    }
    compared = {}
    for (machine, case, release, python), (_, index) in newest.items():
        graph = graphs[machine].commits(case) if machine in graphs else None
        if graph is not None:
            commits = MeasuredCommits(graph, positions, release, python)
            if len(commits.nodes) > 1:
                compared[index] = commits
    return compared


def _explained(history: History, change: Change, events: Sequence[Event]) -> Change:
    series = history.series[change.series]
    hashes = (history.commits[index].hash for index in (change.previous, change.commit))
    first, last = (history.positions[commit] for commit in hashes)
    return msgspec.structs.replace(
        change,
        cause=_cause(history, change, events),
        explanation=explained_between(history, series, first, last)
        if change.kind == "time"
        else None,
        note=history.notes.about(series.machine, series.case.name, first, last),
    )


def _cause(history: History, change: Change, events: Sequence[Event]) -> Cause:
    """Return what made a change.

    Both commits of a comparison ran at the same time in the same environment, so only the code
    differs. An exact count depends only on the code and on the releases of requirements.
    """
    if change.is_measured and change.kind != "exact":
        return "code"
    series = history.series[change.series]
    for event in events:
        concerns = event.machine == series.machine and event.environment in {
            "",
            series.environment,
        }
        within = change.previous < history.order[event.commit] <= change.commit
        if not (concerns and within):
            continue
        if change.kind == "exact":
            if event.fact.startswith("requirement "):
                return "release"
        elif event.fact != "environment":
            return "environment"
    return "code"
