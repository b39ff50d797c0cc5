"""Results as a table of comma-separated values, a row for each measurement of a case."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from asv_watch.errors import WatchError
from asv_watch.files import write_whole
from asv_watch.records.history import History
from asv_watch.records.records import Outcome
from asv_watch.text.terminal import printable


@dataclass(frozen=True, slots=True)
class TableRow:
    """One case at one commit in one environment on one machine; ``None`` is unknown."""

    machine: str
    environment: str
    """asv's name of it."""
    python: str
    requirements: str
    """JSON object: package to version."""
    commit_hash: str
    commit_date: int
    """Seconds since the epoch."""
    tags: str
    """Tags of the commit, with a comma between."""
    benchmark: str
    case_name: str
    parameters: str
    """JSON object: name to plain value."""
    unit: str
    outcome: str
    reason: str
    value: float | None
    """The reported value, in `unit`."""
    interval_low: float | None
    """Lower end of the interval of the value, in `unit`."""
    interval_high: float | None
    """Upper end of the interval of the value, in `unit`."""
    measured_at: int | None
    """Seconds since the epoch."""
    recipe: str


COLUMNS = tuple(field.name for field in fields(TableRow))


def measurements(history: History) -> Iterator[TableRow]:
    """Yield every measurement of a history, including failed and skipped ones."""
    commits = {commit.hash: commit for commit in history.commits}
    for series in history.series:
        environment = history.environments[series.environment]
        names = history.benchmarks[series.case.benchmark].param_names
        parameters = {name: series.case.labels[name] for name in names}
        for commit, run in series.runs.items():
            if run.outcome is Outcome.NEVER_RUN:
                continue
            point = run.point
            low, high = (point and point.interval) or (None, None)
            yield TableRow(
                machine=series.machine,
                environment=series.environment,
                python=environment.python,
                requirements=json.dumps(environment.requirements),
                commit_hash=commit,
                commit_date=commits[commit].date,
                tags=",".join(commits[commit].tags),
                benchmark=series.case.benchmark,
                case_name=series.case.name,
                parameters=json.dumps(parameters),
                unit=series.unit,
                outcome=run.outcome.value,
                reason=run.reason,
                value=None if point is None else point.value,
                interval_low=low,
                interval_high=high,
                measured_at=run.at,
                recipe=run.recipe,
            )


def check_table(path: Path) -> None:
    """Refuse a path to which no table can be written.

    Raises:
        WatchError: The ending is not ``.csv``, or the folder is missing.
    """
    if path.suffix != ".csv":
        raise WatchError(f"{path.name} does not end in .csv, the format of the table; rename it")
    if not path.parent.is_dir():
        raise WatchError(f"{path.parent} is not a folder; make it first, or choose another one")


def write_table(history: History, path: Path) -> int:
    """Write the measurements to a file; replace a file that exists.

    Returns:
        Number of measurements.

    Raises:
        WatchError: No table can be written there (`check_table`).
        OSError: The file cannot be written.
    """
    check_table(path)
    rows = list(measurements(history))
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(COLUMNS)
    writer.writerows(map(_cell, astuple(row)) for row in rows)
    write_whole(path, stream.getvalue().encode(errors="replace"))
    return len(rows)


def _cell(value: object) -> object:
    """Keep a text from running as a formula in a spreadsheet, or changing a terminal."""
    if not isinstance(value, str):
        return value
    is_formula = value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return printable(f"'{value}" if is_formula else value)
