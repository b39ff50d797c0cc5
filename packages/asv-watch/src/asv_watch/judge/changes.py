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
from functools import cached_property, partial
from itertools import chain, combinations, pairwise
from typing import Literal

import msgspec

from asv_watch.asv.steps import find_levels
from asv_watch.comparison import Ratio
from asv_watch.judge.causes import explained_between
from asv_watch.judge.graph import CaseGraph, Detectable, MachineGraphs, smallest_changes
from asv_watch.judge.release_history import ReleaseHistory, release_histories
from asv_watch.judge.segments import Event, find_events, split
from asv_watch.records.history import History, Series
from asv_watch.records.notes import ChangeNote
from asv_watch.records.records import Benchmark
from asv_watch.records.store import Explanation
from asv_watch.statistics.rule import MINIMUM_EFFECT, SMALLEST, Verdict, judged
from asv_watch.versions.version import Release, VersionKey

MOST_COMMITS = 60
"""With at most this many compared commits in a case, the ratio of any two is published."""

Ends = tuple[int, int]
"""Indices of an earlier and a later commit in the history."""
Pairs = dict[Ends, Ratio]
"""Maps two commits to the ratio between them."""


class MeasuredCommits:
    """The compared commits of a branch in one case, with one release and Python."""

    def __init__(self, graph: CaseGraph, history: History, release: Release, python: str) -> None:
        self._graph, self._commits = graph, history.commits
        on_branch = (
            (history.order[node.commit], node)
            for node in graph.nodes
            if isinstance(node, VersionKey)
            and (node.release, node.python) == (release, python)
            and node.commit in history.order
        )
        self.nodes = dict(sorted(on_branch))
        """Maps the index of a commit in the history, in increasing order, to its node."""

    def ratio(self, before: int, after: int) -> Ratio | None:
        """Return the ratio of two compared commits, by index, if comparisons join them."""
        return self._graph.ratio(self.nodes[before], self.nodes[after])

    @cached_property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """Indices of the commits of each connected part, in order."""
        by_part: dict[int, list[int]] = defaultdict(list)
        for index, node in self.nodes.items():
            by_part[self._graph.part(node)].append(index)
        return tuple(map(tuple, by_part.values()))

    def all_pairs(self) -> Pairs:
        """Return every two commits that comparisons join; if these are too many, only `pairs`."""
        if len(self.nodes) > MOST_COMMITS:
            return self.pairs
        return self._ratios(chain.from_iterable(combinations(part, 2) for part in self.parts))

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs that were compared, and neighbours that other comparisons join."""
        index_of = {node: index for index, node in self.nodes.items()}
        ends = {each for part in self.parts for each in pairwise(part)}
        for before, after in self._graph.pairs:  # in either order
            if before in index_of and after in index_of and index_of[before] < index_of[after]:
                ends.add((index_of[before], index_of[after]))
        return self._ratios(sorted(ends))

    @cached_property
    def changed(self) -> Pairs:
        """The pairs that show a change, none overlapping another, in the order of the branch.

        If pairs overlap, the one with fewer commits counts, because it locates the change better.
        """

        def commits_within(ends: Ends) -> int:
            return self._commits[ends[1]].position - self._commits[ends[0]].position

        changed: Pairs = {}
        for ends in sorted(self.pairs, key=lambda ends: (commits_within(ends), ends[0])):
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

    def _ratios(self, ends: Iterable[Ends]) -> Pairs:
        return {each: ratio for each in ends if (ratio := self.ratio(*each)) is not None}


def overlaps(ends: Ends, others: Iterable[Ends]) -> bool:
    """Tell whether a range shares a commit with any other; a range's first one does not count."""
    return any(ends[0] < after and before < ends[1] for before, after in others)


def find_suspicions(segments: Sequence[Series]) -> Iterator[tuple[Ends, tuple[float, float]]]:
    """Yield the suspicions of a series, oldest first.

    Each has the last commit measured before it and the first one after it, and the levels before
    and after, in the unit of the series. A level of a single value is a spike, unless it is the
    newest.
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
    verdict: Verdict
    ratio: float | None
    """After over before, approximate for a suspicion; ``None`` for a count from or to zero."""
    values: tuple[float, float]
    """Before and after, in the unit of the series: as compared, or the levels of the runs."""
    compared: Ratio | None = None
    """The ratio by comparisons; ``None`` if separate runs or exact values show the change."""
    cause: Cause = "code"
    note: ChangeNote | None = None
    explanation: Explanation | None = None
    """Which operators account for it, if that was examined."""

    @property
    def is_measured(self) -> bool:
        """Whether a comparison of its two commits, or an exact value, shows it."""
        return self.state == "measured"

    @property
    def needs_second_day(self) -> bool:
        """Whether it is a small difference that fewer than two days show."""
        return self.compared is not None and self.compared.needs_second_day

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
    """Work out the changes, events and release comparisons of a history."""
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
        if kind is None:
            continue
        change = partial(_change, history, events, index, kind)
        if kind == "exact":
            exact += (change(ends, values) for ends, values in _steps(series.valued))
        elif index in compared:
            commits = compared[index]
            for found, pairs in ((changes, commits.changed), (near, commits.unconfirmed())):
                found.extend(change(ends, (r.before, r.after), r) for ends, r in pairs.items())
        else:
            changes += (change(ends, values) for ends, values in find_suspicions(segments[index]))
    for found in (changes, near, exact):  # the newest first
        found.sort(key=lambda change: (-change.commit, change.series))
    return Findings(
        segments=segments,
        changes=tuple(change for change in changes if not change.is_dismissed),
        dismissed=tuple(change for change in changes if change.is_dismissed),
        near=tuple(near),
        exact_changes=tuple(exact),
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
    compared = {}
    for (machine, case, release, python), (_, index) in newest.items():
        graph = graphs[machine].commits.get(case) if machine in graphs else None
        if graph is not None:
            commits = MeasuredCommits(graph, history, release, python)
            if len(commits.nodes) > 1:
                compared[index] = commits
    return compared


def _steps(series: Series) -> Iterator[tuple[Ends, tuple[float, float]]]:
    """Yield each difference from one measured commit to the next, with both values."""
    commits: list[int] = series.indices.tolist()
    values: list[float] = series.values.tolist()
    for ends, (before, after) in zip(pairwise(commits), pairwise(values), strict=True):
        if before != after:
            yield ends, (before, after)


def _change(
    history: History,
    events: Sequence[Event],
    index: int,
    kind: Kind,
    ends: Ends,
    values: tuple[float, float],
    compared: Ratio | None = None,
) -> Change:
    """Return a change of a series, by its index, with what is known about its cause."""
    series = history.series[index]
    before, after = values
    ratio = after / before if before > 0 and after > 0 else None
    is_measured = kind == "exact" or (compared is not None and compared.differs)
    first, last = (history.positions[history.commits[end].hash] for end in ends)
    return Change(
        series=index,
        previous=ends[0],
        commit=ends[1],
        state="measured" if is_measured else "suspected",
        kind=kind,
        verdict=judged(is_more=after > before, higher_is_better=series.higher_is_better),
        ratio=compared.ratio if compared else ratio,
        values=values,
        compared=compared,
        # Both commits of a comparison ran at the same time in the same environment.
        cause="code" if compared else _cause(history, events, series, kind, ends),
        note=history.notes.about(series.machine, series.case.name, first, last),
        explanation=explained_between(history, series, first, last) if kind == "time" else None,
    )


def _cause(
    history: History, events: Sequence[Event], series: Series, kind: Kind, ends: Ends
) -> Cause:
    """Return what made a change that no comparison measured.

    An exact count depends only on the code and on the releases of requirements.
    """
    facts = [
        event.fact
        for event in events
        if event.machine == series.machine
        and event.environment in {"", series.environment}
        and ends[0] < history.order[event.commit] <= ends[1]
    ]
    if kind == "exact":
        return "release" if any(fact.startswith("requirement ") for fact in facts) else "code"
    return "environment" if any(fact != "environment" for fact in facts) else "code"
