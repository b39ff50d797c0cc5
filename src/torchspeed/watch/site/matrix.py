"""The overview's matrix: a row per model, a column per device and pass, a metric at a time."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter

from torchspeed.watch.history.records import Benchmark
from torchspeed.watch.site import names
from torchspeed.watch.site.contents import Contents, Metric, SeriesSummary, Setup

_COLUMN_LABELS = ("device", "pass")


@dataclass(frozen=True, slots=True)
class Column:
    """A device and a pass, as far as the benchmarks have them."""

    name: str
    mark: str
    """CSS classes that give it its hue (device) and dash (pass)."""


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
    members = contents.of_setup(setup)
    return tuple(_matrix(metric, members) for metric in contents.metrics if _any(metric, members))


def _any(metric: Metric, members: list[SeriesSummary]) -> bool:
    return any(one.metric == metric and (one.points or one.status == "failed") for one in members)


def _matrix(metric: Metric, rows: list[SeriesSummary]) -> Matrix:
    members = [row for row in rows if row.metric == metric]
    shown = sorted(
        {_column(row) for row in members if row.points or row.status != "skipped"},
        key=_as_they_run,
    )
    table: dict[tuple[int, str, str, str], dict[tuple[str, ...], list[SeriesSummary]]] = {}
    for row in members:
        name = (*family_order(row.benchmark), row.model, ", ".join(names.settings(row.labels)))
        table.setdefault(name, {}).setdefault(_column(row), []).append(row)
    table_rows = []
    for (_, group, model, details), cells in sorted(table.items(), key=itemgetter(0)):
        if any(cells.get(column) for column in shown):
            in_columns = tuple(tuple(cells.get(column, ())) for column in shown)
            table_rows.append(MatrixRow(group, model, details, in_columns))
    columns = [Column(" · ".join(filter(None, one)), mark(*one[:2])) for one in shown]
    return Matrix(metric, tuple(columns), tuple(table_rows))


def _column(row: SeriesSummary) -> tuple[str, ...]:
    return tuple(row.labels.get(key, "") for key in _COLUMN_LABELS)


def _as_they_run(column: tuple[str, ...]) -> tuple[str, bool, tuple[str, ...]]:
    device, direction, *_ = column
    return (device, direction != "forward", column)


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
