"""Names of the cases as the site shows them: their rows, columns and titles.

The project's `Layout` says what a row and a column stand for. The script draws these names and
makes none of its own.
"""

from collections.abc import Sequence

import msgspec

from asv_watch.records.labels import Layout
from asv_watch.site import names
from asv_watch.site.contents import Contents, SeriesSummary

Column = tuple[str, ...]
"""Values of the labels that are columns."""

HUES = 8
"""Hues of rows; if there are more rows than hues, they share hues and differ in shape."""
FIRST_HUE = 2
"""Hue of the first column."""
_FIRST_SCREEN_BELOW = 4


class Row(msgspec.Struct, frozen=True):
    """A row of a table: what is measured, with its settings, in all columns and metrics."""

    name: str
    """The value of the parameter that rows stand for, or what the benchmark does."""
    details: str
    """Its other parameters: ``size 5, sparse``."""
    group: str
    """The heading that lists have it under: ``time series``."""


class ShownCase(msgspec.Struct, frozen=True):
    """A case and its row and column in tables."""

    name: str
    """Its full name, as asv writes it."""
    summary: SeriesSummary
    """One of its series: all have its benchmark and its labels."""
    row: int
    """Index in ``CaseTable.rows``."""
    column: int
    title: str
    """Its name in sentences and headings: ``solve · size 5 · sparse``."""


class CaseTable(msgspec.Struct, frozen=True):
    """All cases of a project, in the order of the site."""

    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    cases: tuple[ShownCase, ...]
    index_of: dict[str, int]
    """Maps the full name of a case to its index in ``cases``."""

    def find(self, case: str) -> ShownCase | None:
        """Return a case by its full name; a suite may not have it any more."""
        return self.cases[self.index_of[case]] if case in self.index_of else None

    def title(self, case: str) -> str:
        """Return a case's title, with its metric if that is not the time.

        A case that no suite has any more has its full name as title.
        """
        shown = self.find(case)
        if shown is None:
            return case
        metric = shown.summary.metric.label
        return shown.title if metric == "time" else f"{shown.title} · {metric}"

    def words(self, case: ShownCase, layout: Layout) -> list[str]:
        """Return what people call a case's columns and its row, as far as the layout says."""
        names = (*self.columns[case.column], self.rows[case.row].name)
        return [layout.in_words[name] for name in names if name in layout.in_words]

    def in_words(self, case: ShownCase, layout: Layout) -> str:
        """Return what a case measures as people call it: ``The training pass of a transformer``.

        Empty if the layout has no such name for its last column, which says what is done.
        """
        row, column = self.rows[case.row], self.columns[case.column]
        if not column or column[-1] not in layout.in_words:
            return ""
        known = " ".join(layout.in_words[value] for value in column if value in layout.in_words)
        details = f" ({row.details})" if row.details else ""
        return f"The {known} of {layout.in_words.get(row.name, row.name)}{details}"


def case_table(contents: Contents) -> CaseTable:
    """Name all cases of a project, and put them in order."""
    layout = contents.layout
    in_order = sorted(contents.series, key=lambda row: layout.group_order(row.benchmark))
    summaries = {summary.series.case.name: summary for summary in in_order}
    rows = {name: _row(summary, layout) for name, summary in summaries.items()}
    columns = {name: layout.column(summary.labels) for name, summary in summaries.items()}
    index_of_row = {row: index for index, row in enumerate(dict.fromkeys(rows.values()))}
    orders = _orders(contents)
    shown_columns = sorted(
        set(columns.values()), key=lambda column: (list(map(_position, column, orders)), column)
    )
    index_of_column = {column: index for index, column in enumerate(shown_columns)}
    cases = sorted(
        (
            ShownCase(
                name,
                summary,
                index_of_row[rows[name]],
                index_of_column[columns[name]],
                _title(rows[name], columns[name], layout),
            )
            for name, summary in summaries.items()
        ),
        key=lambda case: (case.row, case.column),
    )
    return CaseTable(
        rows=tuple(index_of_row),
        columns=tuple(shown_columns),
        cases=tuple(cases),
        index_of={case.name: index for index, case in enumerate(cases)},
    )


def _orders(contents: Contents) -> list[Sequence[str]]:
    known: dict[str, Sequence[str]] = {**contents.parameters, **contents.layout.words}
    return [known.get(name, ()) for name in contents.layout.columns]


def _position(value: str, order: Sequence[str]) -> int:
    return order.index(value) if value in order else len(order)


def _title(row: Row, column: Column, layout: Layout) -> str:
    group = [] if layout.rows else [row.group]
    return " · ".join(filter(None, [*group, row.name, row.details, *column]))


def main_groups(contents: Contents) -> set[str]:
    """Return the groups of the first screen: the foremost ones that nights measure.

    Their suites declare a position below `_FIRST_SCREEN_BELOW`; if none does, it is every group.
    """
    groups = {row.group for row in contents.series}
    others = {
        row.group
        for row in contents.series
        if row.benchmark.position >= _FIRST_SCREEN_BELOW or row.benchmark.short is False
    }
    return groups - others or groups


def css_classes(column: Column, columns: Sequence[Column], contents: Contents) -> str:
    """Return the CSS classes of a column: a hue of its own, and a dash by its second label.

    A single column has no hue, because rows have hues then.
    """
    measured = {contents.layout.column(row.labels) for row in contents.series if row.has_value} - {
        ()
    }
    shown = [other for other in columns if other in measured]
    hue = []
    if len(shown) > 1 and column in shown:
        hue = [f"hue-{(FIRST_HUE + shown.index(column)) % HUES}"]
    seconds = zip(column[1:], _orders(contents)[1:], strict=True)
    dash = ["dashed" for value, order in seconds if value and _position(value, order) % 2]
    return " ".join(hue + dash)


def _row(summary: SeriesSummary, layout: Layout) -> Row:
    shown = {layout.rows, *layout.columns, *layout.words, "metric"}
    settings = [
        names.setting(name, value)
        for name, value in summary.labels.items()
        if value and name not in shown
    ]
    if layout.rows:  # what the function measures, apart from its metric and its labels
        function, metric = layout.function(summary.benchmark.name), summary.metric
        is_metric = f"{metric.label} ".lower().startswith(f"{function} ".lower())
        if not is_metric and function.replace(" ", "-") != metric.id:
            settings.insert(0, function)
    return Row(summary.row, ", ".join(filter(None, settings)), summary.group)
