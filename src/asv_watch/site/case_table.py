"""Names of the cases as the site shows them: their rows, columns and titles.

A row of a table is a model, or a benchmark, with its settings; a column is a device and a pass, or
whatever the project's `Layout` says. The script draws these names and makes none of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from asv_watch.records.records import Benchmark
from asv_watch.site import names
from asv_watch.site.contents import Contents, Metric, SeriesSummary
from asv_watch.site.layout import Layout

Column = tuple[str, ...]
"""A device and a pass, or values of other parameters, as far as the benchmarks have them."""

_KIND = re.compile(r"^(time|timeraw|peakmem|mem|track)_")
_MAIN = 4
_OF_MODELS = {"model", "device", "pass", "metric", "batch"}
_DEVICES = {"cpu": 2, "cuda": 3, "mps": 4, "xpu": 5}
"""Hues of devices."""
_PASSES = ("forward", "backward")


@dataclass(frozen=True, slots=True)
class Row:
    """One model or benchmark with its settings: the same for all its devices, passes, metrics."""

    name: str
    """The model, or what the benchmark does."""
    details: str
    """Its other parameters: ``batch 5, compiled``."""
    group: str
    """The heading that lists have it under: ``time series``."""


@dataclass(frozen=True, slots=True)
class ShownCase:
    """A case and its place in tables."""

    name: str
    """As asv writes it."""
    summary: SeriesSummary
    """One of its series: all have its benchmark and its labels."""
    row: int
    """Index in ``CaseTable.rows``."""
    column: int
    title: str
    """What sentences and headings call it: ``lenet5 · batch 5 · cpu · forward``."""


@dataclass(frozen=True, slots=True)
class CaseTable:
    """All cases of a project, in the order of the site."""

    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    cases: tuple[ShownCase, ...]
    index_of: dict[str, int]
    """Full name of a case to its index in ``cases``."""

    def title(self, case: str) -> str:
        """Return a case's title, with its metric where that is no time.

        A case that no suite has any more is called by its name.
        """
        if case not in self.index_of:
            return case
        shown = self.cases[self.index_of[case]]
        metric = shown.summary.metric.label
        return shown.title if metric == "time" else f"{shown.title} · {metric}"


def case_table(contents: Contents) -> CaseTable:
    """Name all cases of a project, and put them in order."""
    layout = contents.layout
    in_order = sorted(contents.series, key=lambda row: layout.group_order(row.benchmark))
    of_case = {summary.series.case.name: summary for summary in in_order}
    rows = {name: _row(summary, layout) for name, summary in of_case.items()}
    columns = {name: layout.column(summary.labels) for name, summary in of_case.items()}
    index_of_row = {row: index for index, row in enumerate(dict.fromkeys(rows.values()))}
    shown_columns = sorted(set(columns.values()), key=lambda column: _column_order(column, layout))
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
            for name, summary in of_case.items()
        ),
        key=lambda case: (case.row, case.column),
    )
    return CaseTable(
        rows=tuple(index_of_row),
        columns=tuple(shown_columns),
        cases=tuple(cases),
        index_of={case.name: index for index, case in enumerate(cases)},
    )


def _column_order(column: Column, layout: Layout) -> tuple[bool, str, bool, Column]:
    """Sort key: the CPU and forward first; benchmarks without these parameters last."""
    without = not layout.of_models and not any(column)
    return (without, column[0] if column else "", "forward" not in column, column)


def _title(row: Row, column: Column, layout: Layout) -> str:
    group = [] if layout.of_models else [row.group]
    return " · ".join(filter(None, [*group, row.name, row.details, *column]))


def implementation(summary: SeriesSummary) -> str:
    """Return which implementation of a model a case runs: ``plain``, ``tuned compiled``.

    A suite whose module is called ``plain…`` has the models as they are written, all others have
    them tuned. Cases that vary the number format or the layout, and cases that are not
    a pass of a model, have none.
    """
    labels = summary.labels
    if not labels.get("pass") or not labels.keys() <= _OF_MODELS | {"mode"}:
        return ""
    mode = labels.get("mode", "eager")
    kind = "plain" if _is_plain(summary.benchmark) else "tuned"
    return " ".join([kind, *([] if mode == "eager" else [mode])])


def _is_plain(benchmark: Benchmark) -> bool:
    return benchmark.name.partition(".")[0].split("_")[0] == "plain"


def main_groups(contents: Contents) -> set[str]:
    """Return the groups that stand on the first screen: models without variants of their own.

    Their suites declare a position before `_MAIN`. In other projects it is every group.
    """
    groups = {row.group for row in contents.series}
    others = {
        row.group
        for row in contents.series
        if row.benchmark.position >= _MAIN or not row.labels.keys() <= _OF_MODELS
    }
    is_of_models = contents.layout.of_models
    return groups - others if is_of_models and groups - others else groups


def look(column: Column, index: int, contents: Contents) -> str:
    """CSS classes of a column, such as a device and a pass: its hue and its dash.

    The hue of a device is left out if everything was measured on one.
    """
    if not contents.layout.of_models:
        return "pass-backward" if index % 2 else "pass-none"
    device, direction = (*column, "", "")[:2]
    shows_device = device in _DEVICES and len(contents.devices) > 1
    hue = f"hue-{_DEVICES[device]} " if shows_device else ""
    return f"{hue}pass-{direction if direction in _PASSES else 'none'}"


def _row(summary: SeriesSummary, layout: Layout) -> Row:
    case, benchmark = summary.series.case, summary.benchmark
    settings = names.settings(case.labels, without=layout.columns)
    if not layout.of_models:
        words = " ".join(_function_words(benchmark))
        return Row(words, ", ".join(settings), summary.group)
    subject = _subject(benchmark, summary.metric, case.labels.get("pass", ""))
    # Without it a plain model and its tuned one would have the same name in every list.
    plain = "plain" if _is_plain(benchmark) and "pass" in case.labels else ""
    details = ", ".join(filter(None, [plain, subject, *settings]))
    return Row(summary.model, details, summary.group)


def _function_words(benchmark: Benchmark) -> list[str]:
    function = benchmark.name.rpartition(".")[2]
    return [word for word in _KIND.sub("", function).split("_") if word]


def _subject(benchmark: Benchmark, metric: Metric, direction: str) -> str:
    """Return what a function of a suite measures, beyond its metric and its pass."""
    words = [word for word in _function_words(benchmark) if word != direction]
    subject, label = " ".join(words), metric.label.lower()
    if subject == label or label.startswith(f"{subject} ") or "-".join(words) == metric.id:
        return ""
    return subject
