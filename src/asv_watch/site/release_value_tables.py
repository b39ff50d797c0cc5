"""What the view of torch releases shows of values: peak memory, compiling, exact counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from asv_watch.judge.release_values import ValueChange, value_changes
from asv_watch.records.release_values import ReleaseValue
from asv_watch.site.contents import SeriesSummary
from asv_watch.site.failures import exception_line
from asv_watch.statistics.rule import Verdict

_COMPILING = "modes.Compilation."

Cell = ValueChange | ReleaseValue | None
"""A value against that of the release before; a value alone, or why there is none; nothing."""


@dataclass(frozen=True, slots=True)
class ValueRow:
    """Peak memory, or an exact count, of one case in all columns of a table."""

    case: str
    """As asv names it."""
    name: str
    """Model and what is measured of it."""
    series: SeriesSummary | None
    """Where the case has a page."""
    cells: tuple[Cell, ...]
    """For each column, the newest release first."""

    @property
    def changed(self) -> bool:
        """Whether a count differs between two releases."""
        changes = [cell for cell in self.cells if isinstance(cell, ValueChange)]
        return any(change.verdict is not Verdict.SAME for change in changes)


@dataclass(frozen=True, slots=True)
class ValueTable:
    """Values of one kind by release."""

    title: str
    columns: tuple[tuple[str, str], ...]
    """Each release that was measured, the newest first, and the one before it, if there is any."""
    rows: tuple[ValueRow, ...]
    unchanged: int
    """Cases without a row, because no two releases differ."""


@dataclass(frozen=True, slots=True)
class UnmeasuredValues:
    """Cases of one suite that have no value with a release, for one reason."""

    release: str
    cases: tuple[str, ...]
    """As asv names them."""
    failed: bool
    """They were skipped otherwise."""
    reason: str


def value_tables(
    releases: Sequence[str],
    values: Sequence[ReleaseValue],
    name_of: Callable[[str], str],
    page_of: Callable[[str], SeriesSummary | None],
) -> tuple[ValueTable, ...]:
    """Gather the peak memory of all cases, what compiles, and the exact counts that changed.

    Args:
        releases: of torch, the oldest first.
        values: those of one machine.
        name_of: what people call a case.
        page_of: where a case has a page.
    """
    columns = [(after, before) for before, after in pairwise(("", *releases))][::-1]
    changes = {pair: value_changes(values, pair[1], pair[0]) for pair in columns}
    newest = {(value.torch, value.case): value for value in values}
    counts = {value.case for value in values if value.exact}
    compiling = {case for case in counts if case.startswith(_COMPILING)}
    tables = []
    for title, cases in (
        ("Peak memory", {value.case for value in values} - counts),
        ("Compiling", compiling),
        ("Exact counts", counts - compiling),
    ):
        measured = tuple(
            pair for pair in columns if any((pair[0], case) in newest for case in cases)
        )
        rows = [
            ValueRow(
                case,
                name_of(case),
                page_of(case),
                tuple(changes[pair].get(case) or newest.get((pair[0], case)) for pair in measured),
            )
            for case in cases
        ]
        shown = [row for row in rows if title != "Exact counts" or row.changed]
        if len(measured) > 1:
            shown.sort(key=lambda row: row.name)
            tables.append(ValueTable(title, measured, tuple(shown), len(rows) - len(shown)))
    return tuple(tables)


def unmeasured_values(values: Iterable[ReleaseValue]) -> tuple[UnmeasuredValues, ...]:
    """Gather the cases that have no value, those of one release, suite and reason together."""
    newest = {(value.torch, value.case): value for value in values}
    together: dict[tuple[str, str, bool, str], list[str]] = defaultdict(list)
    for value in newest.values():
        if value.value is None:
            suite = value.case.partition("(")[0].rpartition(".")[0]
            reason = exception_line(value.failed or value.skipped)
            together[value.torch, suite, bool(value.failed), reason].append(value.case)
    return tuple(
        UnmeasuredValues(release, tuple(cases), failed, reason)
        for (release, _, failed, reason), cases in together.items()
    )
