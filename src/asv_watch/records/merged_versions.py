"""Result files in which git kept several versions, of two machines with one name or two branches.

asv writes a result file as one line, and .gitattributes lets git keep the lines of both sides. A
file of several lines therefore holds several versions, which are read as one: what any of them
measured is in it, and a case that several measured has the samples of all.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
from typing import Any

from asv_watch.records.reported_value import is_finite_number, report_value

ROW_COLUMNS = {"params", "version", "started_at", "duration", "profile"}
"""Columns of a result file with one entry for a benchmark, and not one for each of its cases."""


def merge_versions(content: bytes) -> dict[str, Any]:
    """Merge the versions that the lines of a result file hold.

    Raises:
        ValueError: One of the lines is no result file of asv, or there is none.
    """
    versions = [json.loads(line) for line in content.splitlines() if line.strip()]
    if not versions:
        raise ValueError("it is empty")
    try:
        return functools.reduce(_merge, sorted(versions, key=_newest_start))
    except (AttributeError, LookupError, TypeError, OverflowError) as error:
        raise ValueError(f"a version of it has not the shape that asv writes: {error}") from error


def _newest_start(version: dict[str, Any]) -> tuple[float, str]:
    """Order versions by time, in the same way on both sides of a merge."""
    column = version["result_columns"].index("started_at")
    starts = [row[column] for row in version["results"].values() if len(row) > column]
    return max((start for start in starts if start), default=0.0), json.dumps(version)


def _merge(older: dict[str, Any], newer: dict[str, Any]) -> dict[str, Any]:
    columns = list(dict.fromkeys([*newer["result_columns"], *older["result_columns"]]))
    rows = [
        {
            name: dict(zip(version["result_columns"], row, strict=False))
            for name, row in version["results"].items()
        }
        for version in (older, newer)
    ]
    merged = rows[0] | rows[1]
    for name in rows[0].keys() & rows[1].keys():
        merged[name] = _merge_rows(rows[0][name], rows[1][name])
    return {
        **older,
        **newer,
        "durations": older.get("durations", {}) | newer.get("durations", {}),
        "result_columns": columns,
        "results": {name: [row.get(column) for column in columns] for name, row in merged.items()},
    }


def _merge_rows(older: dict[str, Any], newer: dict[str, Any]) -> dict[str, Any]:
    """Merge what two versions measured of one benchmark; other code of it is not comparable."""
    if any(older.get(key) != newer.get(key) for key in ("params", "version")):
        return newer
    count = math.prod(map(len, newer.get("params") or []))
    columns = (older.keys() | newer.keys()) - ROW_COLUMNS
    cells = [
        {column: list(row.get(column) or [None] * count) for column in columns}
        for row in (older, newer)
    ]
    cases = [
        _merge_cases(*({column: cell[column][index] for column in columns} for cell in cells))
        for index in range(count)
    ]
    return newer | {column: [case[column] for case in cases] for column in columns}


def _merge_cases(older: dict[str, Any], newer: dict[str, Any]) -> dict[str, Any]:
    """Merge two results of one case: a value is preferred to none, and a failure to nothing."""
    if not is_finite_number(newer["result"]):
        never_ran = newer["result"] is not None
        return older if is_finite_number(older["result"]) or never_ran else newer
    first, second = older.get("samples"), newer.get("samples")
    if not is_finite_number(older["result"]) or not first or not second:
        return newer
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    samples = first + second[len(list(pairs)) :]  # both may have continued what was stored before
    reported = report_value(samples)
    merged = newer | {"samples": samples, "result": reported.value}
    merged["stats_q_25"], merged["stats_q_75"] = reported.quartiles
    if reported.interval is not None:
        merged["stats_ci_99_a"], merged["stats_ci_99_b"] = reported.interval
    return merged
