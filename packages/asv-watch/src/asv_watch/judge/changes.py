"""What a history says: changes, measured by a comparison or suspected from separate runs.

Pages, data files, reports and nights read its `Findings`, so that all of them say the same.

- A change is **measured** if interleaved comparisons show that its two commits differ
  (`MeasuredCommits`). Its size is their ratio, with its interval.
- It is **suspected** if separate runs show it in a series that nobody compared; its size is
  written with "about". asv's own step detection raises suspicions (`asv_watch.asv.steps`). They
  claim nothing: a night compares the two commits.
- Exact values, such as counts, need no comparison: they differ from one measured commit to the
  next, or they do not.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, combinations, pairwise
from typing import Literal

import msgspec

from asv_watch.asv.steps import find_levels
from asv_watch.comparison import Clock, Ratio
from asv_watch.judge.causes import explained_between
from asv_watch.judge.graph import CaseGraph, Detectable, MachineGraphs, smallest_changes
from asv_watch.judge.release_history import ReleaseHistory, release_histories
from asv_watch.judge.segments import Event, find_events, noise_between_runs, split
from asv_watch.records.history import History, Series
from asv_watch.records.notes import ChangeNote
from asv_watch.records.records import Benchmark
from asv_watch.records.store import Explanation
from asv_watch.statistics.rule import MINIMUM_EFFECT, SMALLEST, Verdict, judged
from asv_watch.text import quantities
from asv_watch.versions.version import Release, VersionKey

MOST_COMMITS = 60
"""With at most this many compared commits in a case, the ratio of any two is published."""

Pairs = dict[tuple[int, int], Ratio]
"""Maps the positions of an earlier and a later commit to the ratio between them."""


class MeasuredCommits:
    """The compared commits of a branch in one case, with one release and Python."""

    def __init__(
        self, graph: CaseGraph, positions: Mapping[str, int], release: Release, python: str
    ) -> None:
        self._graph = graph
        on_branch = (
            (positions[node.commit], node)
            for node in graph.nodes
            if isinstance(node, VersionKey)
            and (node.release, node.python) == (release, python)
            and node.commit in positions
        )
        self.nodes = dict(sorted(on_branch))
        """Maps a position along the branch, in increasing order, to the node of its commit."""

    def ratio(self, before: int, after: int) -> Ratio | None:
        """Return the ratio of two compared commits, by position, if comparisons join them."""
        return self._graph.ratio(self.nodes[before], self.nodes[after])

    @cached_property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the commits of each connected part, in order."""
        positions_by_part: dict[int, list[int]] = defaultdict(list)
        for position, node in self.nodes.items():
            positions_by_part[self._graph.part(node)].append(position)
        return tuple(map(tuple, positions_by_part.values()))

    def all_pairs(self) -> Pairs:
        """Return every two commits that comparisons join; if these are too many, only `pairs`."""
        if len(self.nodes) > MOST_COMMITS:
            return self.pairs
        return self._ratios(chain.from_iterable(combinations(part, 2) for part in self.parts))

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs that were compared, and neighbours that other comparisons join."""
        position_of = {node: position for position, node in self.nodes.items()}
        ends = {each for positions in self.parts for each in pairwise(positions)}
        for before, after in self._graph.pairs:
            if before in position_of and after in position_of:
                low, high = sorted((position_of[before], position_of[after]))
                ends.add((low, high))
        return self._ratios(sorted(ends))

    @cached_property
    def changed(self) -> Pairs:
        """The pairs that show a change, none overlapping another, in the order of the branch.

        If pairs overlap, the one with fewer commits counts, because it locates the change better.
        """
        changed: Pairs = {}
        for ends in sorted(self.pairs, key=lambda ends: (ends[1] - ends[0], ends[0])):
            if self.pairs[ends].differs and not overlaps(ends, changed):
                changed[ends] = self.pairs[ends]
        return dict(sorted(changed.items()))

    def unconfirmed(self) -> Pairs:
        """The pairs of one sitting that would be a change if their interval were narrower."""
        return {
            ends: ratio
            for ends, ratio in self.pairs.items()
            if abs(math.log(ratio.ratio)) >= SMALLEST
            and not ratio.differs
            and len(ratio.sittings) == 1
            and not overlaps(ends, self.changed)
        }

    def _ratios(self, ends: Iterable[tuple[int, int]]) -> Pairs:
        return {each: ratio for each in ends if (ratio := self.ratio(*each)) is not None}


def overlaps(ends: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    """Tell whether a range shares a commit with any other; a range's first one does not count."""
    return any(ends[0] < after and before < ends[1] for before, after in others)


def find_suspicions(
    segments: Sequence[Series],
) -> Iterator[tuple[tuple[int, int], tuple[float, float]]]:
    """Yield the suspicions of a series, oldest first.

    Each has the indices of the last commit measured before it and of the first one after it, and
    the levels before and after, in the unit of the series. A level of a single value is a spike,
    unless it is the newest.
    """
    for segment in segments:
        commits: list[int] = segment.indices.tolist()
        lasting = [
            level
            for level in find_levels(segment.values)
            if level.end - level.first > 1 or level.end == len(commits)
        ]
        for before, after in pairwise(lasting):
            low, high = sorted((before.value, after.value))
            if low > 0 and math.log(high / low) >= math.log1p(MINIMUM_EFFECT):
                ends = commits[before.end - 1], commits[after.first]
                yield ends, (before.value, after.value)


State = Literal["measured", "suspected"]
Direction = Literal["better", "worse"]
Kind = Literal["time", "memory", "exact"]
KIND_OF_UNIT: dict[str, Kind] = {"seconds": "time", "bytes": "memory"}
Cause = Literal["code", "release", "environment"]
"""``environment``: installed software changed there; ``release``: of an exact count, another
release of a requirement was installed there; ``code``: none of these."""


class Change(msgspec.Struct, frozen=True):
    """A change of one series between two commits."""

    series: int
    """Index of the series in the history."""
    previous: int
    """Index of the commit before: it was compared, or is the last one with the old level.
    The cause is one of the commits after this one, up to and including the next."""
    commit: int
    """Index of the commit after: it was compared, or is the first one with the new level."""
    state: State
    kind: Kind
    verdict: Direction
    ratio: float | None
    """After over before, approximate for a suspicion; ``None`` for a count from or to zero."""
    values: tuple[float, float]
    """Before and after, in the unit of the series: as compared, or the levels of the runs."""
    interval: tuple[float, float] | None = None
    """Confidence interval of a measured ratio (99 %)."""
    through: Literal["", "other commits"] = ""
    """``other commits`` if the two were not compared with each other, but each with others."""
    clock: Clock = ""
    """Clock of a measured ratio of times."""
    days: str = ""
    """How many days show a measured ratio by themselves."""
    needs_second_day: bool = False
    """Whether it is a small difference that fewer than two days show."""
    cause: Cause = "code"
    note: ChangeNote | None = None
    explanation: Explanation | None = None
    """Which operators account for it, if that was examined."""

    @property
    def is_measured(self) -> bool:
        """Whether a comparison of its two commits, or an exact value, shows it."""
        return self.state == "measured"

    @property
    def is_dismissed(self) -> bool:
        """Whether it is only suspected, and a person noted that it is a false alarm."""
        is_false_alarm = self.note is not None and self.note.kind == "false alarm"
        return is_false_alarm and not self.is_measured

    @property
    def may_be_code(self) -> bool:
        """Whether a comparison of its two commits may show it."""
        return self.cause in {"code", "environment"}


def kind_of(benchmark: Benchmark) -> Kind | None:
    """Return the metric in which a benchmark can change, or ``None``.

    A rate or a share of a peak follows from times, and changes with them.
    """
    if benchmark.exact:
        return "exact"
    return None if benchmark.type == "track" else KIND_OF_UNIT.get(benchmark.unit)


class Findings(msgspec.Struct, frozen=True):
    """The conclusions about a history; tuples with an entry for each series have its order."""

    segments: tuple[tuple[Series, ...], ...]
    """The segments of each series: runs under the same conditions, compared only within them."""
    noise: tuple[float | None, ...]
    """The noise of each series: standard deviation of a value's logarithm between runs, if
    known."""
    changes: tuple[Change, ...]
    """Measured and suspected changes of times and memory, the newest commit first."""
    dismissed: tuple[Change, ...]
    """Suspected changes that a note calls false alarms; they are not in `changes`."""
    near: tuple[Change, ...]
    """Ratios of one sitting that are nearly a change; they are measured again, not claimed."""
    exact_changes: tuple[Change, ...]
    """Changes of exact values, the newest commit first."""
    graphs: Mapping[str, MachineGraphs]
    """Maps a machine to the graphs of all its comparisons."""
    compared: Mapping[int, MeasuredCommits]
    """Maps the index of a series to its compared commits."""
    detectable: Mapping[str, Detectable]
    """Maps a machine to the smallest changes that its interleaved comparisons can show."""
    events: tuple[Event, ...]
    """Oldest commit first."""
    release_histories: tuple[ReleaseHistory, ...]
    """For each machine and requirement whose releases it compared."""


def analyse(history: History) -> Findings:
    """Work out the noise, changes, events and release comparisons of a history."""
    segments = split(history)
    events = find_events(history)
    graphs = {
        machine: MachineGraphs(comparisons, history.versions)
        for machine, comparisons in history.comparisons.items()
    }
    compared = _compared_commits(history, graphs)
    changes: list[Change] = []
    near: list[Change] = []
    exact: list[Change] = []
    for index, series in enumerate(history.series):
        kind = kind_of(history.benchmarks[series.case.benchmark])
        if kind == "exact":
            exact += _exact_changes(history, index)
        elif kind and index in compared:
            commits = compared[index]
            changes += _compared(history, index, kind, "measured", commits.changed)
            near += _compared(history, index, kind, "suspected", commits.unconfirmed())
        elif kind:
            changes += (
                _change(history, index, kind, "suspected", ends, values)
                for ends, values in find_suspicions(segments[index])
            )

    def newest_first(changes: Iterable[Change]) -> list[Change]:
        return sorted(changes, key=lambda change: (-change.commit, change.series))

    explained = [_explained(history, change, events) for change in newest_first(changes)]
    return Findings(
        segments=segments,
        noise=tuple(map(noise_between_runs, segments)),
        changes=tuple(change for change in explained if not change.is_dismissed),
        dismissed=tuple(change for change in explained if change.is_dismissed),
        near=tuple(newest_first(near)),
        exact_changes=tuple(_explained(history, c, events) for c in newest_first(exact)),
        graphs=graphs,
        compared=compared,
        detectable={
            machine: detectable
            for machine, of_machine in graphs.items()
            if (detectable := smallest_changes(of_machine.comparisons, of_machine)).by_case
        },
        events=events,
        release_histories=release_histories(graphs),
    )


def _compared_commits(
    history: History, graphs: Mapping[str, MachineGraphs]
) -> dict[int, MeasuredCommits]:
    """Map the index of a series to its compared commits.

    If a machine measured a case in several environments with one release and Python, the commits
    belong to the environment that measured the newest commit.
    """
    newest: dict[tuple[str, str, Release, str], tuple[int, int]] = {}
    for index, series in enumerate(history.series):
        environment = history.environments[series.environment]
        key = series.machine, series.case.name, environment.release, environment.python
        last = int(series.indices[-1]) if series.runs else -1
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


def _exact_changes(history: History, index: int) -> Iterator[Change]:
    """Yield each difference of an exact series from one measured commit to the next."""
    series = history.series[index].valued
    commits: list[int] = series.indices.tolist()
    values: list[float] = series.values.tolist()
    for ends, (before, after) in zip(pairwise(commits), pairwise(values), strict=True):
        if before != after:
            yield _change(history, index, "exact", "measured", ends, (before, after))


def _compared(
    history: History, index: int, kind: Kind, state: State, pairs: Pairs
) -> Iterator[Change]:
    for ends, measured in pairs.items():
        before, after = (history.order[history.hashes[position]] for position in ends)
        values = measured.before, measured.after
        yield msgspec.structs.replace(
            _change(history, index, kind, state, (before, after), values),
            ratio=measured.ratio,
            interval=measured.interval,
            through="" if measured.sittings else "other commits",
            clock=measured.clock,
            days=quantities.days(measured.days_showing, measured.days) if measured.differs else "",
            needs_second_day=measured.needs_second_day,
        )


def _change(
    history: History,
    index: int,
    kind: Kind,
    state: State,
    ends: tuple[int, int],
    values: tuple[float, float],
) -> Change:
    before, after = values
    higher_is_better = history.series[index].higher_is_better
    answer = judged(is_more=after > before, higher_is_better=higher_is_better)
    return Change(
        series=index,
        previous=ends[0],
        commit=ends[1],
        state=state,
        kind=kind,
        verdict="better" if answer is Verdict.BETTER else "worse",
        ratio=after / before if before > 0 and after > 0 else None,
        values=values,
    )


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
    facts = [
        event.fact
        for event in events
        if event.machine == series.machine
        and event.environment in {"", series.environment}
        and change.previous < history.order[event.commit] <= change.commit
    ]
    if change.kind == "exact":
        return "release" if any(fact.startswith("requirement ") for fact in facts) else "code"
    return "environment" if any(fact != "environment" for fact in facts) else "code"
