"""The overview's matrix of one metric: rows and columns as the project's `Layout` says."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from operator import itemgetter

from asv_watch.site import names
from asv_watch.site.contents import Contents, Metric, SeriesSummary, Setup
from asv_watch.site.layout import Layout

Column = tuple[str, ...]
"""A device and a pass, or values of other parameters, as far as the benchmarks have them."""


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One model (with its batch, mode or the like) or benchmark: a cell for each column."""

    family: str
    """The group it belongs to: ``time series``."""
    model: str
    """The model, or what the benchmark does."""
    details: str
    """Its other parameters: ``batch 5, compiled``."""
    cells: tuple[tuple[SeriesSummary, ...], ...]
    """For each column the series that belong there: mostly one, or none."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """All series of one metric that a setup measured."""

    metric: Metric
    columns: tuple[Column, ...]
    rows: tuple[MatrixRow, ...]


def matrices(contents: Contents, setup: Setup) -> tuple[Matrix, ...]:
    """Return the matrix of each metric that a setup measured."""
    members: dict[Metric, list[SeriesSummary]] = defaultdict(list)
    for row in contents.of_setup(setup):
        members[row.metric].append(row)
    return tuple(
        _matrix(metric, members[metric], contents.layout)
        for metric in contents.metrics
        if any(row.has_value or row.status == "failed" for row in members[metric])
    )


def _matrix(metric: Metric, members: list[SeriesSummary], layout: Layout) -> Matrix:
    column_of = {row.id: layout.column(row.labels) for row in members}
    columns = sorted(
        {column_of[row.id] for row in members if row.has_value or row.status != "skipped"},
        key=lambda column: (
            not layout.of_models and not any(column),  # the cases without these parameters
            column[:1],
            "forward" not in column,
            column,
        ),
    )
    table: dict[tuple[int, str, str, str], dict[Column, list[SeriesSummary]]] = {}
    for row in members:
        details = ", ".join(names.settings(row.labels, without=layout.columns))
        name = (*layout.group_order(row.benchmark), row.model, details)
        table.setdefault(name, {}).setdefault(column_of[row.id], []).append(row)
    rows = [
        MatrixRow(group, model, details, tuple(tuple(cells.get(at, ())) for at in columns))
        for (_, group, model, details), cells in sorted(table.items(), key=itemgetter(0))
        if not cells.keys().isdisjoint(columns)
    ]
    return Matrix(metric, tuple(columns), tuple(rows))


def mark(column: Column, contents: Contents) -> str:
    """CSS classes of a column, such as a device and a pass: its hue and its dash.

    The hue of a device says nothing, and is left out, where all was measured on one.
    """
    device, direction = (*column, "", "")[:2]
    shows_device = device in {"cpu", "cuda", "mps", "xpu"} and len(contents.devices) > 1
    hue = device if shows_device else "other"
    dash = direction if direction in {"forward", "backward"} else "none"
    return f"dev-{hue} pass-{dash}"
