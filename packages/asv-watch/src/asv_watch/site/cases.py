"""Names of the cases as the site shows them: their rows, columns and titles.

The project's `Layout` says what a row and a column stand for. The script draws these names and
makes none of its own.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set

import msgspec

from asv_watch.records.labels import Layout
from asv_watch.records.store import StoredExplanation
from asv_watch.site import names
from asv_watch.site.series import SeriesSummary

_HUES = 8
"""Hues of rows; if there are more rows than hues, they share hues and differ in shape."""
_FIRST_HUE = 2
"""Hue of the first column."""
_FIRST_SCREEN_BELOW = 4


class CaseRow(msgspec.Struct, frozen=True):
    """A row of a table: what is measured, with its settings, in all columns and metrics."""

    name: str
    """The value of the parameter that rows stand for, or what the benchmark does."""
    details: str
    """Its other parameters: ``size 5, sparse``."""
    group: str
    """The heading that lists have it under: ``time series``."""
    hue: int
    """One of eight."""


class CaseColumn(msgspec.Struct, frozen=True):
    """A column of a table."""

    name: str
    values: tuple[str, ...]
    """Values of the labels that are columns."""
    look: str
    """CSS classes: a hue, and a dash by the second label. A single column has no hue, because rows
    have hues then."""


class CaseEntry(msgspec.Struct, frozen=True):
    """One benchmark with one value for each of its parameters."""

    key: str
    """Its full name, as asv writes it."""
    b: int
    """Index of its benchmark."""
    row: int
    column: int
    title: str
    """Its name in sentences and headings: ``solve · size 5 · sparse``."""
    words: str
    """What people call it, and operators behind its changes: for searching."""
    labels: dict[str, str]
    compared: bool
    """Whether versions were compared in it, also if no run has a value."""


class CaseTable(msgspec.Struct, frozen=True):
    """All cases of a project, in the order of the site."""

    rows: tuple[CaseRow, ...]
    columns: tuple[CaseColumn, ...]
    cases: tuple[CaseEntry, ...]
    index_of: dict[str, int]
    """Maps the full name of a case to its index in ``cases``."""
    summaries: dict[str, SeriesSummary]
    """Maps it to one of its series: all have its benchmark and its labels."""
    main_groups: frozenset[str]
    """The groups of the first screen: the foremost ones that nights measure.

    Their suites declare a position below 4; if none does, it is every group.
    """
    layout: Layout

    def entry(self, case: str) -> CaseEntry:
        """Return a case by its full name."""
        return self.cases[self.index_of[case]]

    def title(self, case: str) -> str:
        """Return a case's title, with its metric if that is not the time.

        A case that no suite has any more has its full name as title.
        """
        if case not in self.index_of:
            return case
        title, metric = self.entry(case).title, self.summaries[case].metric.label
        return title if metric == "time" else f"{title} · {metric}"

    def in_words(self, case: str) -> str:
        """Return what a case measures as people call it: ``The training pass of a transformer``.

        Empty if the layout has no such name for its last column, which says what is done.
        """
        words, entry = self.layout.in_words, self.entry(case)
        row, column = self.rows[entry.row], self.columns[entry.column].values
        if not column or column[-1] not in words:
            return ""
        known = " ".join(words[value] for value in column if value in words)
        details = f" ({row.details})" if row.details else ""
        return f"The {known} of {words.get(row.name, row.name)}{details}"


def case_table(
    series: Sequence[SeriesSummary],
    layout: Layout,
    parameters: Mapping[str, Sequence[str]],
    explanations: Iterable[StoredExplanation],
    compared: Set[str],
) -> CaseTable:
    """Name all cases of a project, and put them in order.

    ``parameters`` has the values of each parameter in order, and ``compared`` the cases in which
    versions were compared. Words by which a case is found include operators of ``explanations``.
    """
    in_order = sorted(series, key=lambda row: layout.group_order(row.benchmark))
    summaries = {summary.case: summary for summary in in_order}
    measured = dict.fromkeys(summary.row for summary in in_order if summary.last)
    hues = {row: number % _HUES for number, row in enumerate(measured)}
    rows = {
        name: _row(summary, layout, hues.get(summary.row, 0))
        for name, summary in summaries.items()
    }
    values = {name: layout.column(summary.labels) for name, summary in summaries.items()}
    index_of_row = {row: index for index, row in enumerate(dict.fromkeys(rows.values()))}
    known = {**parameters, **layout.words}
    orders = [known.get(name, ()) for name in layout.columns]
    columns = sorted(
        set(values.values()), key=lambda column: (list(map(_position, column, orders)), column)
    )
    benchmarks = list(dict.fromkeys(summary.benchmark.name for summary in series))
    operators = _differing_operators(explanations, layout)
    defaults = {label: of[""] for label, of in layout.labels.items() if "" in of}

    def entry(name: str, summary: SeriesSummary) -> CaseEntry:
        row, column = rows[name], values[name]
        parts = ["" if layout.rows else row.group, row.name, row.details, *column]
        called = [layout.in_words.get(word) for word in (*column, row.name)]
        labels = (defaults if layout.rows in summary.labels else {}) | summary.labels
        return CaseEntry(
            name,
            benchmarks.index(summary.benchmark.name),
            index_of_row[row],
            columns.index(column),
            " · ".join(filter(None, parts)),
            " ".join([*filter(None, called), *sorted(operators[name])]),
            {label: value for label, value in labels.items() if label != "metric" and value},
            name in compared,
        )

    cases = sorted(
        map(entry, summaries, summaries.values()), key=lambda case: (case.row, case.column)
    )
    with_values = {values[summary.case] for summary in series if summary.last}
    groups = {row.group for row in series}
    others = {
        row.group
        for row in series
        if row.benchmark.position >= _FIRST_SCREEN_BELOW or row.benchmark.short is False
    }
    return CaseTable(
        rows=tuple(index_of_row),
        columns=_columns(columns, with_values, orders),
        cases=tuple(cases),
        index_of={case.key: index for index, case in enumerate(cases)},
        summaries=summaries,
        main_groups=frozenset(groups - others or groups),
        layout=layout,
    )


def _differing_operators(
    explanations: Iterable[StoredExplanation], layout: Layout
) -> defaultdict[str, set[str]]:
    """Return the names of the operators whose time differs in an explanation of each case."""
    names_of = defaultdict[str, set[str]](set)
    for stored in explanations:
        differing = (one.name for one in stored.explanation.operators if one.clear)
        names_of[stored.case].update(map(layout.operator, differing))
    return names_of


def _position(value: str, order: Sequence[str]) -> int:
    return order.index(value) if value in order else len(order)


def _columns(
    columns: Sequence[tuple[str, ...]],
    measured: Set[tuple[str, ...]],
    orders: Sequence[Sequence[str]],
) -> tuple[CaseColumn, ...]:
    coloured = [column for column in columns if column and column in measured]

    def look(column: tuple[str, ...]) -> str:
        hue = []
        if len(coloured) > 1 and column in coloured:
            hue = [f"hue-{(_FIRST_HUE + coloured.index(column)) % _HUES}"]
        seconds = zip(column[1:], orders[1:], strict=True)
        dash = ["dashed" for value, order in seconds if value and _position(value, order) % 2]
        return " ".join(hue + dash)

    return tuple(
        CaseColumn(" · ".join(filter(None, column)), column, look(column)) for column in columns
    )


def _row(summary: SeriesSummary, layout: Layout, hue: int) -> CaseRow:
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
    return CaseRow(summary.row, ", ".join(filter(None, settings)), summary.group, hue)
