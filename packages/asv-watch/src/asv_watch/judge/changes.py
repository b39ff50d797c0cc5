"""Changes of a series: measured by a comparison, or suspected from separate runs.

- A change is **measured** if interleaved comparisons show that its two commits differ
  (`MeasuredCommits`). Its size is their ratio, with its interval.
- It is **suspected** if separate runs show it in a series that nobody compared; its size is
  written with "about". asv's own step detection raises suspicions (`asv_watch.asv.steps`). They
  claim nothing: a night compares the two commits.
- Exact values, such as counts, need no comparison: they differ from one measured commit to the
  next, or they do not.

A pair is two commits that were compared with each other, or two neighbours among all compared
commits: other comparisons then lead from one to the other, such as those with a reference. Its
ratio comes from the graph (`asv_watch.judge.graph`), from all comparisons of the case.

Step detection of 200 values takes 10 ms. So it looks at windows of so many values. A run that is
added changes the newest window alone, and that only if one of the newest values lies outside the
range of those before. Levels of windows that did not change are known.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, combinations, pairwise
from typing import Literal

import msgspec

from asv_watch.asv.steps import Level, Levels
from asv_watch.comparison import Clock, Ratio
from asv_watch.judge.graph import CaseGraph
from asv_watch.judge.segments import Segment
from asv_watch.records.history import Floats, History
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
        """Find the compared commits.

        ``positions`` maps a commit hash to the number of commits before it along the branch.
        """
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

    def _ratios(self, ends: Iterable[tuple[int, int]]) -> Pairs:
        return {each: ratio for each in ends if (ratio := self.ratio(*each)) is not None}


def overlaps(ends: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    """Tell whether a range shares a commit with any other; a range's first one does not count."""
    return any(ends[0] < after and before < ends[1] for before, after in others)


WINDOW = 200
"""Largest number of values in a window."""
NEWEST = 5
"""One of so many newest values must lie outside the range of those before them."""
_OVERLAP = 50
"""Values that two neighbouring windows share; a step among them is taken from the window whose end
is farther away."""


def find_suspicions(
    segments: Sequence[Segment], levels: Levels
) -> Iterator[tuple[tuple[int, int], tuple[float, float]]]:
    """Yield the suspicions of a series, oldest first.

    Each has the indices of the last commit measured before it and of the first one after it, and
    the levels before and after, in the unit of the series.
    """
    for segment in segments:
        commits: list[int] = segment.commits.tolist()
        for before, after in _steps(segment.values, levels):
            low, high = sorted((before.value, after.value))
            if low > 0 and math.log(high / low) >= math.log1p(MINIMUM_EFFECT):
                ends = commits[before.end - 1], commits[after.first]
                yield ends, (before.value, after.value)


def _steps(values: Floats, levels: Levels) -> Iterator[tuple[Level, Level]]:
    """Yield neighbouring levels; a level of a single value is a spike, unless it is the newest."""
    values = values[: _last_look(values)]
    for start in range(0, max(1, len(values) - _OVERLAP), WINDOW - _OVERLAP):
        window = values[start : start + WINDOW]
        first = start + _OVERLAP // 2 if start else 0
        end = start + WINDOW
        if end < len(values):
            end -= _OVERLAP // 2
        lasting = [
            Level(start + level.first, start + level.end, level.value)
            for level in levels.find(window)
            if level.end - level.first > 1 or level.end == len(window)
        ]
        yield from (
            (before, after) for before, after in pairwise(lasting) if first <= after.first < end
        )


def _last_look(values: Floats) -> int:
    """Return how many values there were when the `NEWEST` last left the range of those before.

    Only the last `WINDOW` values count.
    """
    newest = values[-WINDOW:]
    extreme = max(int(newest.argmin()), int(newest.argmax()))
    return min(len(values) - len(newest) + extreme + NEWEST, len(values))


State = Literal["measured", "suspected"]
"""Whether a change was measured."""
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
    """The note about it in ``results/notes.toml``."""
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


def exact_changes(history: History, index: int) -> Iterator[Change]:
    """Yield each difference of an exact series from one measured commit to the next."""
    columns = history.series[index].columns.valued
    commits: list[int] = history.indices(columns).tolist()
    values: list[float] = columns.values.tolist()
    for ends, (before, after) in zip(pairwise(commits), pairwise(values), strict=True):
        if before != after:
            yield _change(history, index, "exact", "measured", ends, (before, after))


def suspected_changes(
    history: History, index: int, kind: Kind, segments: Sequence[Segment], levels: Levels
) -> Iterator[Change]:
    """Yield the suspicions of a series that nobody compared, as changes."""
    for ends, values in find_suspicions(segments, levels):
        yield _change(history, index, kind, "suspected", ends, values)


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


def measured_changes(
    history: History, index: int, kind: Kind, commits: MeasuredCommits
) -> Iterator[Change]:
    """Yield the changes that the comparisons of a series show."""
    for ends, measured in commits.changed.items():
        yield _compared(history, index, kind, "measured", ends, measured)


def unconfirmed_changes(
    history: History, index: int, kind: Kind, commits: MeasuredCommits
) -> Iterator[Change]:
    """Yield ratios of one sitting that would be a change if their interval were narrower.

    They claim nothing: nights measure them again, in another sitting.
    """
    for ends, measured in commits.pairs.items():
        is_near = abs(math.log(measured.ratio)) >= SMALLEST and not measured.differs
        if is_near and len(measured.sittings) == 1 and not overlaps(ends, commits.changed):
            yield _compared(history, index, kind, "suspected", ends, measured)


def _compared(
    history: History,
    index: int,
    kind: Kind,
    state: State,
    ends: tuple[int, int],
    measured: Ratio,
) -> Change:
    before, after = (history.order[history.hashes[position]] for position in ends)
    values = measured.before, measured.after
    return msgspec.structs.replace(
        _change(history, index, kind, state, (before, after), values),
        ratio=measured.ratio,
        interval=measured.interval,
        through="" if measured.sittings else "other commits",
        clock=measured.clock,
        days=quantities.days(measured.days_showing, measured.days) if measured.differs else "",
        needs_second_day=measured.needs_second_day,
    )
