"""What the view of releases shows of values: peak memory, compiling, exact counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from asv_watch.judge.release_history import ReleaseHistory
from asv_watch.judge.release_values import value_ratio, value_verdict
from asv_watch.records.comparisons import CaseValues, NoValue
from asv_watch.site.contents import SeriesSummary
from asv_watch.site.failures import exception_line
from asv_watch.statistics.rule import Verdict

_COMPILING = "modes.Compilation."


@dataclass(frozen=True, slots=True)
class ValueCell:
    """A value with a release, or why there is none; and how it differs from the release before."""

    value: float | NoValue
    unit: str
    ratio: float | None = None
    verdict: Verdict | None = None
    """``None`` where the release before has no value."""


@dataclass(frozen=True, slots=True)
class ValueRow:
    """Peak memory, or an exact count, of one case in all columns of a table."""

    case: str
    """As asv names it."""
    name: str
    """Model and what is measured of it."""
    series: SeriesSummary | None
    """Where the case has a page."""
    cells: tuple[ValueCell | None, ...]
    """For each column, the newest release first."""

    @property
    def changed(self) -> bool:
        """Whether a count differs between two releases."""
        return any(cell and cell.verdict not in (None, Verdict.SAME) for cell in self.cells)


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
    history: ReleaseHistory,
    name_of: Callable[[str], str],
    page_of: Callable[[str], SeriesSummary | None],
) -> tuple[ValueTable, ...]:
    """Gather the peak memory of all cases, what compiles, and the exact counts that changed.

    Args:
        history: of the releases.
        name_of: what people call a case.
        page_of: where a case has a page.
    """
    columns = [(after, before) for before, after in pairwise(("", *history.releases))][::-1]
    known = _values(history)
    counts = {case for case, values in known.items() if values.exact}
    compiling = {case for case in counts if case.startswith(_COMPILING)}
    tables = []
    for title, cases in (
        ("Peak memory", known.keys() - counts),
        ("Compiling", compiling),
        ("Exact counts", counts - compiling),
    ):
        cells = {case: [_cell(history, known[case], *pair) for pair in columns] for case in cases}
        measured = [
            place for place in range(len(columns)) if any(c[place] for c in cells.values())
        ]
        rows = [
            ValueRow(
                case, name_of(case), page_of(case), tuple(cells[case][place] for place in measured)
            )
            for case in cases
        ]
        shown = [row for row in rows if title != "Exact counts" or row.changed]
        if len(measured) > 1:
            shown.sort(key=lambda row: row.name)
            heads = tuple(columns[place] for place in measured)
            tables.append(ValueTable(title, heads, tuple(shown), len(rows) - len(shown)))
    return tuple(tables)


def _values(history: ReleaseHistory) -> dict[str, CaseValues]:
    """Map each case to the values of any two releases."""
    return {case: values for step in history.steps for case, values in step.values.items()}


def _cell(
    history: ReleaseHistory, values: CaseValues, after: str, before: str
) -> ValueCell | None:
    value = history.value(after, values.case)
    if value is None:
        return None
    compared = next(
        (
            step.values[values.case]
            for step in history.steps
            if (step.before, step.after) == (before, after) and values.case in step.values
        ),
        None,
    )
    verdict = value_verdict(compared) if compared else None
    if compared is None or verdict is None or not isinstance(compared.after, float):
        return ValueCell(value, values.unit)
    return ValueCell(compared.after, values.unit, value_ratio(compared), verdict)


def unmeasured_values(history: ReleaseHistory) -> tuple[UnmeasuredValues, ...]:
    """Gather the cases that have no value, those of one release, suite and reason together."""
    together: dict[tuple[str, str, bool, str], list[str]] = defaultdict(list)
    cases = _values(history)
    for release in history.releases:
        for case in cases:
            value = history.value(release, case)
            if isinstance(value, NoValue):
                suite = case.partition("(")[0].rpartition(".")[0]
                reason = exception_line(value.failed or value.skipped)
                together[release, suite, bool(value.failed), reason].append(case)
    return tuple(
        UnmeasuredValues(release, tuple(cases_of_it), failed, reason)
        for (release, _, failed, reason), cases_of_it in together.items()
    )
