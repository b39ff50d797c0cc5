"""The overview's matrix: a row per model, a column per device and pass, a metric at a time."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from operator import itemgetter

from torchspeed.watch.history.records import Benchmark
from torchspeed.watch.site import names
from torchspeed.watch.site.contents import Contents, Metric, SeriesSummary, Setup

Column = tuple[str, str]
"""A device and a pass, as far as the benchmarks have them."""


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One model (with its batch, mode or the like): a cell for each column."""

    family: str
    """The suite it comes from: ``time series``."""
    model: str
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
    """The matrix of each metric that a setup measured."""
    members: dict[Metric, list[SeriesSummary]] = defaultdict(list)
    for row in contents.of_setup(setup):
        members[row.metric].append(row)
    return tuple(
        _matrix(metric, members[metric])
        for metric in contents.metrics
        if any(row.points or row.status == "failed" for row in members[metric])
    )


def _matrix(metric: Metric, members: list[SeriesSummary]) -> Matrix:
    columns = sorted(
        {_column(row) for row in members if row.points or row.status != "skipped"},
        key=lambda column: (column[0], column[1] != "forward", column),
    )
    table: dict[tuple[int, str, str, str], dict[Column, list[SeriesSummary]]] = {}
    for row in members:
        name = (*family_order(row.benchmark), row.model, ", ".join(names.settings(row.labels)))
        table.setdefault(name, {}).setdefault(_column(row), []).append(row)
    rows = [
        MatrixRow(group, model, details, tuple(tuple(cells.get(at, ())) for at in columns))
        for (_, group, model, details), cells in sorted(table.items(), key=itemgetter(0))
        if not cells.keys().isdisjoint(columns)
    ]
    return Matrix(metric, tuple(columns), tuple(rows))


def _column(row: SeriesSummary) -> Column:
    return (row.labels.get("device", ""), row.labels.get("pass", ""))


def family(benchmark: Benchmark) -> str:
    """The suite that a benchmark belongs to, as a heading: ``time series``."""
    words = benchmark.name.partition(".")[0].split("_")
    return " ".join("CNNs" if word == "cnns" else word for word in words)


def family_order(benchmark: Benchmark) -> tuple[int, str]:
    """Sort key that puts families where their suites declare (`position`), then by name."""
    return (benchmark.position, family(benchmark))


def mark(device: str, direction: str) -> str:
    """CSS classes of a device and a pass: its hue and its dash."""
    hue = device if device in {"cpu", "cuda", "mps", "xpu"} else "other"
    dash = direction if direction in {"forward", "backward"} else "none"
    return f"dev-{hue} pass-{dash}"
