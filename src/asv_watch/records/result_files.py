"""One of asv's result files: the results of one commit in one environment.

The format is asv's api version 2. ``results`` maps a benchmark to a row whose
cells are named by ``result_columns``; trailing empty cells are cut off. A cell
of a benchmark with parameters is a list over the cartesian product of their
values, last parameter fastest, or ``null`` when all entries would be. In the
``result`` cell a literal ``NaN`` is a case that was not run, ``null`` one that
gave no value.

asv writes such a file as one line, and .gitattributes lets git keep the lines of both sides, of
two machines with one name or two branches. Several lines are several versions, which are read as
one: what any of them measured is in it, and a case that several measured has the samples of all.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from asv_watch.files import read_regular
from asv_watch.records.records import Environment
from asv_watch.records.reported_value import is_finite_number, report_value
from asv_watch.records.suite_lists import MOST_CASES

NAN_MARK = "\x00NaN"
"""Text that stands for a literal ``NaN`` in what the fast reader of `read_json` returns."""
_MARK_AS_TEXT = rb"\u0000NaN"

T = TypeVar("T")


class DamagedError(Exception):
    """A result file, or a part of it, does not have the shape that asv writes."""


@dataclass(frozen=True, slots=True)
class Row:
    """The results of one benchmark: cells over the product of its parameters."""

    params: tuple[tuple[str, ...], ...]
    version: str
    """Empty where none is stored."""
    cells: dict[str, Any]
    """Column name to the cell as stored."""
    count: int
    """Number of cases: the length of each cell that is a list."""

    def column(self, name: str) -> list[Any]:
        """Give one cell as a list over the cases.

        Raises:
            DamagedError: The cell is no list, or of another length.
        """
        cell = self.cells.get(name)
        if cell is None:
            return [None] * self.count
        if not isinstance(cell, list) or len(cell) != self.count:
            raise DamagedError(f"{name} must have one entry for each of the {self.count} cases")
        return cell

    @property
    def started_at(self) -> int | None:
        """When the benchmark started, seconds since the epoch (asv stores milliseconds)."""
        stored = self.cells.get("started_at")
        if not isinstance(stored, (int, float)) or not abs(stored) < 1e15:
            return None
        return int(stored // 1000)


class ResultFile(msgspec.Struct):
    """The contents of a result file before its rows are matched with today's benchmarks."""

    version: Literal[2]
    commit_hash: Annotated[str, msgspec.Meta(min_length=1)]
    params: dict[str, Any]
    """Facts of the machine, its name among them, and of the environment."""
    results: dict[str, Any]
    result_columns: list[str]
    python: Any = ""
    requirements: dict[str, Any] | None = None
    env_vars: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        """Refuse a file that lacks what msgspec cannot check."""
        if "machine" not in self.params:
            raise ValueError("params names no machine")
        if not {"result", "params"} <= set(self.result_columns):
            raise ValueError("result_columns lacks result or params")

    @property
    def machine(self) -> str:
        """Name of the machine that measured."""
        return str(self.params["machine"])

    def environment(self, name: str) -> Environment:
        """Return the environment of the results, under this name."""
        return Environment(name, str(self.python), texts(self.requirements), texts(self.env_vars))

    @property
    def facts(self) -> dict[str, str]:
        """Facts of machine and environment: ``requirement <name>``, ``variable <name>``."""
        environment = self.environment("")
        named = {"machine", "python", *environment.requirements}
        return {
            **{name: value for name, value in texts(self.params).items() if name not in named},
            "python": environment.python,
            **{f"requirement {name}": text for name, text in environment.requirements.items()},
            **{f"variable {name}": text for name, text in environment.variables.items()},
        }

    def row(self, benchmark: str) -> Row:
        """Decode the row of one benchmark.

        Raises:
            DamagedError: It does not have the shape that asv writes.
        """
        stored = self.results[benchmark]
        if not isinstance(stored, list) or len(stored) > len(self.result_columns):
            raise DamagedError("its row does not fit result_columns")
        cells = dict(zip(self.result_columns, stored, strict=False))
        try:
            params = tuple(map(tuple, cells.get("params") or []))
            hash(params)
        except TypeError as error:
            raise DamagedError("its params are not lists of texts") from error
        count = math.prod(map(len, params))
        if count > MOST_CASES:
            raise DamagedError(f"its params make {count} cases")
        version = cells.get("version")
        return Row(params, version if isinstance(version, str) else "", cells, count)


def texts(stored: dict[str, Any] | None) -> dict[str, str]:
    """Turn values into texts, ``null`` into an empty one."""
    return {name: "" if value is None else str(value) for name, value in (stored or {}).items()}


def read_json(path: Path, shape: type[T]) -> T:
    """Read a JSON file as asv writes it.

    With stored samples a long history is some 100 MB of numbers, which msgspec reads in a
    fraction of the standard library's time. It refuses the literal ``NaN``, so this is made the
    text `NAN_MARK` first. What msgspec cannot parse, such as a text with a ``NaN`` in it, is read
    again by the standard library; a text that equals the mark becomes another one there.

    Raises:
        DamagedError: It cannot be read, is not JSON, or has another shape.
    """
    try:
        content = read_regular(path)
        try:
            return msgspec.json.decode(
                content.replace(b"NaN", b'"' + _MARK_AS_TEXT + b'"'), type=shape
            )
        except msgspec.ValidationError:
            raise
        except (msgspec.DecodeError, UnicodeDecodeError):
            content = content.replace(_MARK_AS_TEXT, b"\\u0000" + _MARK_AS_TEXT)
            try:
                whole = json.loads(content)
            except ValueError:
                whole = merge_versions(content)
            return msgspec.convert(whole, shape)
    except OSError as error:
        raise DamagedError(f"it cannot be read: {error.strerror}") from error
    except msgspec.ValidationError as error:
        raise DamagedError(f"it does not have the shape that asv writes: {error}") from error
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"it is not JSON: {error}") from error


def read_result_file(path: Path) -> ResultFile:
    """Read and check the frame of one result file; its rows are decoded one by one.

    Raises:
        DamagedError: It cannot be read, is not JSON, or has not asv's shape.
    """
    try:
        return read_json(path, ResultFile)
    except DamagedError as error:
        if "$.version" in str(error):
            raise DamagedError("it is not in asv's format 2: run `asv update`") from error
        raise


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
        raise ValueError(
            f"a version of it does not have the shape that asv writes: {error}"
        ) from error


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
    # Until 2026-11-26 a value was the least of its samples; now it is the median of its rounds.
    least = older["result"] == min(first) and newer["result"] == min(second)
    value = reported.value if least else statistics.median(samples)
    merged = newer | {"samples": samples, "result": value}
    merged["stats_q_25"], merged["stats_q_75"] = reported.quartiles
    if reported.interval is not None:
        merged["stats_ci_99_a"], merged["stats_ci_99_b"] = reported.interval
    return merged
