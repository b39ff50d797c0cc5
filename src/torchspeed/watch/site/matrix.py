"""The overview's matrix: a row per model, a column per device and pass, a metric at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from torchspeed.watch.history.records import Benchmark, Environment, Machine
from torchspeed.watch.site import names
from torchspeed.watch.site.standing import Metric, Standing, Standings

_COLUMN_LABELS = ("device", "pass")
_ELSEWHERE = frozenset({"model", "metric", *_COLUMN_LABELS})
"""Labels that a row's details need not repeat."""


@dataclass(frozen=True, slots=True)
class Column:
    """A device and a pass, as far as the benchmarks have them."""

    name: str
    mark: str
    """CSS classes that give it its hue (device) and dash (pass)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One model (with its batch, mode or the like): a cell for each column."""

    family: str
    """The suite it comes from: ``time series``."""
    model: str
    details: str
    """Its other parameters: ``batch 5, compiled``."""
    cells: tuple[tuple[Standing, ...], ...]
    """For each column the series that belong there: mostly one, or none."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """All series of one metric in one place."""

    metric: Metric
    columns: tuple[Column, ...]
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


def places(standings: Standings) -> tuple[Place, ...]:
    """Every place that measured anything, the one to show first at the front.

    That is the machine with the most series that have a figure, and of its environments
    the one with the newest figure, then with the newest torch.
    """
    found = [
        _place(standings, machine, environment, commits)
        for (machine, environment), commits in sorted(standings.measured.items())
        if commits
    ]
    figures: dict[str, int] = {}
    for row in standings.rows:
        figures[row.series.machine] = figures.get(row.series.machine, 0) + bool(row.points)
    found.sort(key=lambda place: (place.newest, release(place.environment.torch)), reverse=True)
    found.sort(key=lambda place: (-figures[place.machine.name], place.machine.name))
    return tuple(found)


def _place(
    standings: Standings, machine: str, environment: str, commits: tuple[int, ...]
) -> Place:
    rows = [
        row
        for row in standings.rows
        if row.series.machine == machine and row.series.environment == environment
    ]
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.status] = counts.get(row.status, 0) + 1
    return Place(
        standings.history.machines[machine],
        standings.history.environments[environment],
        tuple(_matrix(metric, rows) for metric in standings.metrics if _any(metric, rows)),
        commits[-1],
        len(commits),
        dict(sorted(counts.items())),
    )


def _any(metric: Metric, rows: list[Standing]) -> bool:
    return any(row.metric == metric and (row.points or row.status == "failed") for row in rows)


def _matrix(metric: Metric, rows: list[Standing]) -> Matrix:
    members = [row for row in rows if row.metric == metric]
    shown = sorted(
        {_column(row) for row in members if row.points or row.status != "skipped"},
        key=_as_they_run,
    )
    table: dict[tuple[int, str, str, str], dict[tuple[str, ...], list[Standing]]] = {}
    for row in members:
        name = (*family_order(row.benchmark), row.model, _details(row))
        table.setdefault(name, {}).setdefault(_column(row), []).append(row)
    return Matrix(
        metric,
        tuple(Column(" · ".join(filter(None, one)), mark(*one[:2])) for one in shown),
        tuple(
            Row(group, model, details, tuple(tuple(cells.get(column, ())) for column in shown))
            for (_, group, model, details), cells in sorted(table.items(), key=itemgetter(0))
            if any(cells.get(column) for column in shown)
        ),
    )


def _column(row: Standing) -> tuple[str, ...]:
    labels = row.series.case.labels
    return tuple(labels.get(key, "") for key in _COLUMN_LABELS)


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


def _details(row: Standing) -> str:
    return ", ".join(
        names.setting(key, value)
        for key, value in row.series.case.labels.items()
        if key not in _ELSEWHERE
    )


def release(version: str) -> tuple[int, ...]:
    """A release as numbers, so that 2.9 comes before 2.10."""
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def two_releases(found: Sequence[Place]) -> tuple[str, Place | None, Place | None]:
    """The first machine that measured two torch releases, and the places of the newest two."""
    machines = dict.fromkeys(place.machine.name for place in found)
    for machine in machines:
        by_release = {
            release(place.environment.torch): place
            for place in reversed(found)
            if place.machine.name == machine and place.environment.torch
        }
        if len(by_release) > 1:
            old, new = sorted(by_release)[-2:]
            return machine, by_release[old], by_release[new]
    return "", None, None
