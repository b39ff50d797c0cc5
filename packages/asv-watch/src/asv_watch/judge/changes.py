"""Changes of a series: measured by a comparison, or suspected from separate runs.

- A change is **measured** if interleaved comparisons show that its two commits differ
  (`asv_watch.judge.measured_pairs`). Its size is their ratio, with its interval.
- It is **suspected** if separate runs show it in a series that nobody compared
  (`asv_watch.runs.suspicions`); its size is written with "about".
- Exact values, such as counts, need no comparison: they differ from one measured commit to the
  next, or they do not.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

import msgspec

from asv_watch.asv.steps import Levels
from asv_watch.comparison import Clock, Ratio
from asv_watch.judge.measured_pairs import MeasuredCommits, overlaps
from asv_watch.records.explanations import Explanation
from asv_watch.records.history import History, Series
from asv_watch.records.notes import ChangeNote
from asv_watch.records.records import Benchmark
from asv_watch.runs.segments import Segment
from asv_watch.runs.suspicions import find_suspicions
from asv_watch.statistics.rule import SMALLEST, Verdict, judged
from asv_watch.text import quantities

State = Literal["measured", "suspected"]
"""Whether a change was measured."""
Direction = Literal["better", "worse"]
Kind = Literal["time", "memory", "exact"]
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
    kinds: dict[str, Kind] = {"seconds": "time", "bytes": "memory"}
    return None if benchmark.type == "track" else kinds.get(benchmark.unit)


def exact_changes(history: History, index: int) -> Iterator[Change]:
    """Yield each difference of an exact series from one measured commit to the next."""
    columns = history.series[index].columns.valued
    commits: list[int] = history.indices(columns).tolist()
    values: list[float] = columns.values.tolist()
    for ends, (before, after) in zip(pairwise(commits), pairwise(values), strict=True):
        if before != after:
            yield _of_runs(history, index, "exact", "measured", ends, (before, after))


def suspected_changes(
    history: History, index: int, kind: Kind, segments: Sequence[Segment], levels: Levels
) -> Iterator[Change]:
    """Yield the suspicions of a series that nobody compared, as changes."""
    for ends, values in find_suspicions(segments, levels):
        yield _of_runs(history, index, kind, "suspected", ends, values)


def _of_runs(
    history: History,
    index: int,
    kind: Kind,
    state: State,
    ends: tuple[int, int],
    values: tuple[float, float],
) -> Change:
    before, after = values
    return Change(
        series=index,
        previous=ends[0],
        commit=ends[1],
        state=state,
        kind=kind,
        verdict=_direction(history.series[index], went_up=after > before),
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
    return Change(
        series=index,
        previous=before,
        commit=after,
        state=state,
        kind=kind,
        verdict=_direction(history.series[index], went_up=measured.ratio > 1),
        ratio=measured.ratio,
        values=(measured.before, measured.after),
        interval=measured.interval,
        through="" if measured.sittings else "other commits",
        clock=measured.clock,
        days=quantities.days(measured.days_showing, measured.days) if measured.differs else "",
        needs_second_day=measured.needs_second_day,
    )


def _direction(series: Series, *, went_up: bool) -> Direction:
    answer = judged(is_more=went_up, higher_is_better=series.higher_is_better)
    return "better" if answer is Verdict.BETTER else "worse"
