"""Changes of a series: measured by a comparison, or suspected from separate runs.

- A change is **measured** where an interleaved comparison of its two commits differs from 1
  (`asv_watch.judge.measured_pairs`). Its size is that ratio, with its interval.
- It is **suspected** where only separate runs show it (`asv_watch.judge.suspicions`): nothing is
  said of its size but "about". A suspicion is *refuted*, and no change any more, where a
  comparison across its commits shows no difference and its interval excludes the suspected size.
- Exact values, such as counts, need no comparison: they differ from one measured commit to the
  next, or they do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from asv_watch.judge.measured_pairs import MeasuredPair, changed_pairs, narrowed
from asv_watch.judge.suspicions import Suspicion
from asv_watch.records.explanations import Explanation
from asv_watch.records.history import History, Series
from asv_watch.records.notes import ChangeNote
from asv_watch.records.records import Benchmark

State = Literal["measured", "suspected"]
"""What a change rests on."""
Direction = Literal["better", "worse"]
Kind = Literal["time", "memory", "exact"]
Cause = Literal["code", "machine", "environment", "alternation"]
"""``machine``: most series of the machine changed at the same commit, in separate runs;
``environment``: installed software changed there; ``alternation``: the series goes back and forth
between two levels; ``code``: none of these."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one series between two commits."""

    series: int
    """Index of the series in the history."""
    previous: int
    """Index in the history's commits of the one before: compared, or the last with the old level.
    The cause is one of the commits after this one, up to and including the next."""
    commit: int
    """Index of the one after: compared, or the first with the new level."""
    state: State
    kind: Kind
    verdict: Direction
    ratio: float | None
    """After over before; of a suspicion about that; ``None`` for a count from or to zero."""
    values: tuple[float, float]
    """Before and after, in the unit of the series: as compared, or the levels of the runs."""
    interval: tuple[float, float] | None = None
    """Confidence interval of a measured ratio (99 %)."""
    through: Literal["", "reference"] = ""
    """``reference`` where the ratio is the quotient of two ratios to the reference."""
    cause: Cause = "code"
    note: ChangeNote | None = None
    """The note about it in ``results/notes.toml``."""
    made_by: tuple[str, str] | None = None
    """Hashes of the last commit before it and the first after it, where comparisons of commits
    between ``previous`` and ``commit`` narrowed it."""
    explanation: Explanation | None = None
    """Which operators account for it, where that was examined."""

    @property
    def is_measured(self) -> bool:
        """Whether a comparison of its two commits, or an exact value, shows it."""
        return self.state == "measured"

    @property
    def may_be_code(self) -> bool:
        """Whether a comparison of its two commits may show it; not if runs blame the machine."""
        return self.cause in {"code", "environment"}


def kind_of(benchmark: Benchmark) -> Kind | None:
    """Return what changes of a benchmark are changes of; ``None`` for what nothing can measure.

    A rate or a share of a peak follows from times, and changes with them.
    """
    if benchmark.exact:
        return "exact"
    kinds: dict[str, Kind] = {"seconds": "time", "bytes": "memory"}
    return None if benchmark.type == "track" else kinds.get(benchmark.unit)


def exact_changes(history: History, index: int) -> Iterator[Change]:
    """Yield each difference of an exact series from one measured commit to the next."""
    series = history.series[index]
    columns = series.columns.valued
    commits: list[int] = history.indices(columns).tolist()
    values: list[float] = columns.values.tolist()
    for row in range(1, len(values)):
        before, after = values[row - 1], values[row]
        if before != after:
            yield Change(
                series=index,
                previous=commits[row - 1],
                commit=commits[row],
                state="measured",
                kind="exact",
                verdict=_direction(series, went_up=after > before),
                ratio=after / before if before > 0 and after > 0 else None,
                values=(before, after),
            )


def changes_of(
    history: History,
    index: int,
    kind: Kind,
    pairs: Sequence[MeasuredPair],
    suspicions: Sequence[Suspicion],
) -> Iterator[Change]:
    """Yield the changes of a series: the measured ones, then the suspected ones."""
    series, hashes, order = history.series[index], history.hashes, history.order
    measured = changed_pairs(pairs)
    for pair in measured:
        ends = narrowed(pair, pairs)
        yield Change(
            series=index,
            previous=order[hashes[pair.before]],
            commit=order[hashes[pair.after]],
            state="measured",
            kind=kind,
            verdict=_direction(series, went_up=pair.ratio > 1),
            ratio=pair.ratio,
            values=pair.values,
            interval=pair.interval,
            through="reference" if pair.through_reference else "",
            made_by=None
            if ends == (pair.before, pair.after)
            else (hashes[ends[0]], hashes[ends[1]]),
        )
    for suspicion in suspicions:
        before, after = suspicion.levels
        old, new = (history.commits[at].hash for at in (suspicion.previous, suspicion.commit))
        ends = history.positions[old], history.positions[new]
        if not _is_answered(ends, after / before, pairs, measured):
            yield Change(
                series=index,
                previous=suspicion.previous,
                commit=suspicion.commit,
                state="suspected",
                kind=kind,
                verdict=_direction(series, went_up=after > before),
                ratio=after / before,
                values=suspicion.levels,
            )


def _is_answered(
    ends: tuple[int, int],
    ratio: float,
    pairs: Sequence[MeasuredPair],
    measured: Sequence[MeasuredPair],
) -> bool:
    """Tell whether comparisons have answered a suspicion, by what they show or exclude."""
    before, after = ends
    return any(before <= pair.before and pair.after <= after for pair in measured) or any(
        pair.spans(before, after) and not pair.differs and pair.excludes(ratio) for pair in pairs
    )


def _direction(series: Series, *, went_up: bool) -> Direction:
    return "better" if went_up == series.higher_is_better else "worse"
