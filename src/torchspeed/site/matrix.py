"""The overview's matrix: a row per model, a column per device and pass, a metric at a time."""

from __future__ import annotations

from dataclasses import dataclass

from torchspeed.history.records import Environment, Machine
from torchspeed.site.standing import Metric, Standing, Standings

_COLUMN_LABELS = ("device", "pass", "mode")


@dataclass(frozen=True, slots=True)
class Row:
    """One model (with its batch or the like): a cell for each column."""

    family: str
    """The suite it comes from: ``time series``."""
    name: str
    cells: tuple[tuple[Standing, ...], ...]
    """For each column the series that belong there: mostly one, or none."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """All series of one metric in one place."""

    metric: Metric
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A machine with an environment: figures of one place may be compared."""

    machine: Machine
    environment: Environment
    matrices: tuple[Matrix, ...]
    newest: int
    """Newest commit index measured there."""
    measured: int
    """How many commits were measured there."""
    counts: dict[str, int]
    """Status to the number of series that have it."""
    noise: float | None
    """Median noise of the place's time series."""


def places(standings: Standings) -> tuple[Place, ...]:
    """Every place that measured anything, the newest commit and torch first."""
    machines = {machine.name: machine for machine in standings.machines}
    environments = {one.name: one for one in standings.environments}
    found = []
    for (machine, environment), commits in standings.measured.items():
        if not commits:
            continue
        rows = [
            row
            for row in standings.rows
            if row.series.machine == machine and row.series.environment == environment
        ]
        counts: dict[str, int] = {}
        for row in rows:
            counts[row.status] = counts.get(row.status, 0) + 1
        noise = sorted(
            row.noise for row in rows if row.noise is not None and row.metric.unit == "seconds"
        )
        found.append(
            Place(
                machines[machine],
                environments[environment],
                tuple(_matrix(metric, rows) for metric in standings.metrics if _any(metric, rows)),
                commits[-1],
                len(commits),
                dict(sorted(counts.items())),
                noise[len(noise) // 2] if noise else None,
            )
        )
    found.sort(key=lambda place: (place.machine.name, place.environment.name))
    found.sort(key=lambda place: (place.newest, _release(place.environment.torch)), reverse=True)
    return tuple(found)


def _any(metric: Metric, rows: list[Standing]) -> bool:
    return any(row.metric == metric and (row.points or row.status == "failed") for row in rows)


def _matrix(metric: Metric, rows: list[Standing]) -> Matrix:
    members = [row for row in rows if row.metric == metric]
    shown = sorted(
        {_column(row) for row in members if row.points or row.status != "skipped"},
        key=_as_they_run,
    )
    table: dict[tuple[str, str], dict[tuple[str, ...], list[Standing]]] = {}
    for row in members:
        table.setdefault((_family(row), _name(row)), {}).setdefault(_column(row), []).append(row)
    return Matrix(
        metric,
        tuple(" · ".join(filter(None, column)) for column in shown),
        tuple(
            Row(family, name, tuple(tuple(cells.get(column, ())) for column in shown))
            for (family, name), cells in sorted(table.items())
            if any(cells.get(column) for column in shown)
        ),
    )


def _column(row: Standing) -> tuple[str, ...]:
    labels = row.series.case.labels
    return tuple(labels.get(key, "") for key in _COLUMN_LABELS)


def _as_they_run(column: tuple[str, ...]) -> tuple[str, bool, tuple[str, ...]]:
    device, direction, *_ = column
    return (device, direction != "forward", column)


def _family(row: Standing) -> str:
    return row.benchmark.name.partition(".")[0].replace("_", " ")


def _name(row: Standing) -> str:
    labels = row.series.case.labels
    model = labels.get("model")
    first = model if model else row.benchmark.name.partition(".")[2]
    rest = [
        f"{key} {value}"
        for key, value in labels.items()
        if key != "model" and key not in _COLUMN_LABELS
    ]
    return " · ".join([first, *rest])


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
