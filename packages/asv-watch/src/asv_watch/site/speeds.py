"""How fast each subject is at each level of effort, such as plain, tuned and compiled.

A project declares its levels in ``"layout"`` of asv.conf.json: names, slowest first, each with a
pattern of the cases that belong to it; the fastest of them counts. All values of one value of the
columns' first label, such as a device, are from one machine: that with the longest history of it.
Values that others published stand beside them.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import urlencode

import msgspec

from asv_watch.asv.selection import case_pattern
from asv_watch.errors import WatchError
from asv_watch.files import read_regular
from asv_watch.site.contents import Contents, Shown
from asv_watch.site.series import SeriesSummary
from asv_watch.text import quantities

Levels = dict[tuple[str, str], SeriesSummary]
"""Maps the first label and the name of a level to the series that counts."""


class PublishedValue(msgspec.Struct, frozen=True):
    """One published value and the case that measures the same here."""

    case: str
    """Full name of the case, parameters included."""
    seconds: float
    source: str
    """Hardware, title, date and address, and what differs from the work that is measured here."""


def read_published(file: Path | None) -> list[PublishedValue]:
    """Read the list of published values that ``published_values`` of asv.conf.json names, if any.

    Raises:
        WatchError: the file cannot be read, or holds something else.
    """
    if file is None:
        return []
    try:
        return msgspec.json.decode(read_regular(file), type=list[PublishedValue])
    except OSError as error:
        raise WatchError(
            f"{file}: {error.strerror}; correct the key published_values of asv.conf.json"
        ) from error
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise WatchError(f"{file} is not a list of published values: {error}") from error


def speed_table(contents: Contents, published: Sequence[PublishedValue]) -> Shown | None:
    """Return newest values by subject and level; none if no subject has two levels."""
    rows = {key: levels for key, levels in _collect(contents).items() if len(levels) > 1}
    if not rows:
        return None
    names = list(contents.layout.levels)
    used = {key for levels in rows.values() for key in levels}
    lines = list(dict.fromkeys(line for levels in rows.values() for line, _ in levels))
    columns = sorted(used, key=lambda key: (lines.index(key[0]), names.index(key[1])))
    by_others: dict[tuple[str, ...], list[PublishedValue]] = defaultdict(list)
    for entry in published:
        case = contents.cases.summaries.get(entry.case)
        if case is not None:
            labels = contents.layout.column(case.labels)
            by_others[case.row, *labels[1:]].append(entry)
    return {
        "columns": [
            {"name": " ".join(filter(None, key)), "where": _where(key, rows.values())}
            for key in columns
        ],
        "versus": f"{lines[1]} against {lines[0]}" if len(lines) == 2 else "",
        "published": bool(by_others),
        "rows": [
            {
                "subject": " · ".join(filter(None, key)),
                "cells": [_cell(levels, column, names) for column in columns],
                "versus": _versus(levels, lines),
                "published": [
                    {"text": quantities.quantity(entry.seconds, "seconds"), "tip": entry.source}
                    for entry in sorted(by_others[key], key=lambda entry: entry.seconds)[:1]
                ],
            }
            for key, levels in rows.items()
        ],
    }


def _collect(contents: Contents) -> dict[tuple[str, ...], Levels]:
    """Return the levels of each subject, with the labels after the first."""
    patterns = {
        name: case_pattern(text, f'"{name}" of "levels" in "layout" of asv.conf.json')
        for name, text in contents.layout.levels.items()
    }
    lengths = {setup.key: len(setup.commits) for setup in contents.setups}
    longest_first = sorted(
        (row for row in contents.series if row.last and row.metric.unit == "seconds"),
        key=lambda row: -lengths.get(row.setup, 0),
    )
    found: dict[tuple[str, ...], Levels] = defaultdict(dict)
    machines: dict[str, str] = {}
    for row in longest_first:
        level = next((level for level, p in patterns.items() if p.search(row.case)), None)
        line, *others = [*contents.layout.column(row.labels), ""]
        if level is None or machines.setdefault(line, row.machine) != row.machine:
            continue
        levels = found[row.row, *others[:-1]]
        other = levels.setdefault((line, level), row)
        if row.setup == other.setup and _value(row) < _value(other):
            levels[line, level] = row
    table = contents.cases
    subjects = list(dict.fromkeys(table.summaries[case.key].row for case in table.cases))
    columns = list(dict.fromkeys(column.values[1:] for column in table.columns))
    in_order = sorted(found, key=lambda key: (subjects.index(key[0]), columns.index(key[1:])))
    return {key: found[key] for key in in_order}


def _value(row: SeriesSummary) -> float:
    return row.last[1].value if row.last else 0.0


def _where(key: tuple[str, str], rows: Iterable[Levels]) -> str:
    """Say which machine measured a column, and with which releases."""
    of_column = [levels[key] for levels in rows if key in levels]
    releases = dict.fromkeys(str(row.environment.release) for row in of_column)
    return ", ".join(filter(None, [of_column[0].machine, *releases]))


def _cell(levels: Levels, key: tuple[str, str], names: Sequence[str]) -> Shown | None:
    if key not in levels:
        return None
    row = levels[key]
    slowest = next(levels[key[0], name] for name in names if (key[0], name) in levels)
    case = {"s": row.case, "m": row.machine}
    return {
        "text": quantities.quantity(_value(row), "seconds"),
        "times": ""
        if slowest is row
        else f"{quantities.digits(_value(slowest) / _value(row), 2)}×",
        "href": f"#/case?{urlencode(case)}",
    }


def _versus(levels: Levels, lines: Sequence[str]) -> str:
    """Return how many times as fast the second line's fastest level is; not of lower bounds."""
    if len(lines) != 2:
        return ""
    times = [
        (name, _value(row)) for (name, _), row in levels.items() if row.metric.label == "time"
    ]
    fastest = [min((time for name, time in times if name == line), default=0.0) for line in lines]
    return f"{quantities.digits(fastest[0] / fastest[1], 2)}×" if all(fastest) else ""
