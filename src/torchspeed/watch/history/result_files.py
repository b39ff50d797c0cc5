"""One of asv's result files, decoded: what one commit gave in one environment.

The format is asv's api version 2. ``results`` maps a benchmark to a row whose
cells are named by ``result_columns``; trailing empty cells are cut off. A cell
of a benchmark with parameters is a list over the cartesian product of their
values, last parameter fastest, or ``null`` when every entry would be. In the
``result`` cell a literal ``NaN`` is a case that was not run, ``null`` one that
gave no figure.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from torchspeed.watch.history.benchmark_list import MOST_CASES
from torchspeed.watch.history.reading import read_regular

_API_VERSION = 2
_NAN_MARK = "\x00NaN"
_NAN_WRITTEN = b'"\\u0000NaN"'


class DamagedError(Exception):
    """A result file, or a part of it, has not the shape that asv writes."""


@dataclass(frozen=True, slots=True)
class Row:
    """The results of one benchmark: cells over the product of its parameters."""

    params: tuple[tuple[str, ...], ...]
    version: str | None
    cells: dict[str, Any]
    """Column name to the cell as stored."""
    count: int
    """Number of cases: the length of every cell that is a list."""
    nan_is_marked: bool
    """Whether a literal ``NaN`` stands as ``_NAN_MARK`` in the cells."""

    def column(self, name: str) -> list[Any] | None:
        """Give one cell as a list over the cases, ``None`` where nothing is stored.

        Raises:
            DamagedError: The cell is no list, or of another length.
        """
        cell = self.cells.get(name)
        if cell is None:
            return None
        if not isinstance(cell, list) or len(cell) != self.count:
            raise DamagedError(f"{name} has not one entry for each of the {self.count} cases")
        if self.nan_is_marked and _NAN_MARK in cell:
            return [math.nan if entry == _NAN_MARK else entry for entry in cell]
        return cell

    @property
    def started_at(self) -> int | None:
        """When the benchmark started, seconds since the epoch (asv stores milliseconds)."""
        stored = self.cells.get("started_at")
        if not isinstance(stored, (int, float)) or not abs(stored) < 1e15:
            return None
        return int(stored // 1000)


@dataclass(frozen=True, slots=True)
class ResultFile:
    """What a result file says before its rows are matched with today's benchmarks."""

    commit: str
    machine: str
    python: str
    requirements: dict[str, str]
    variables: dict[str, str]
    machine_facts: dict[str, str]
    columns: list[str]
    rows: dict[str, Any]
    nan_is_marked: bool

    def row(self, benchmark: str) -> Row:
        """Decode the row of one benchmark.

        Raises:
            DamagedError: It has not the shape that asv writes.
        """
        stored = self.rows[benchmark]
        if not isinstance(stored, list) or len(stored) > len(self.columns):
            raise DamagedError("its row does not fit result_columns")
        cells = dict(zip(self.columns, stored, strict=False))
        params = cells.get("params") or []
        try:
            decoded = tuple(map(tuple, params))
            hash(decoded)
        except TypeError as error:
            raise DamagedError("its params are no lists of texts") from error
        count = math.prod(map(len, decoded))
        if count > MOST_CASES:
            raise DamagedError(f"its params make {count} cases")
        version = cells.get("version")
        return Row(
            params=decoded,
            version=version if isinstance(version, str) else None,
            cells=cells,
            count=count,
            nan_is_marked=self.nan_is_marked,
        )


def read_result_file(path: Path) -> ResultFile:
    """Read and check the frame of one result file; its rows are decoded one by one.

    Raises:
        DamagedError: It cannot be read, is no JSON, or has not asv's shape.
    """
    content, nan_is_marked = read_json(path)
    if not isinstance(content, dict):
        raise DamagedError("it is no object")
    if content.get("version") != _API_VERSION:
        raise DamagedError(f"it is not in asv's format {_API_VERSION}: run `asv update`")
    commit = content.get("commit_hash")
    rows = content.get("results")
    columns = content.get("result_columns")
    facts = _texts(content, "params")
    if not isinstance(commit, str) or not commit:
        raise DamagedError("commit_hash is missing")
    if "machine" not in facts:
        raise DamagedError("params names no machine")
    if not isinstance(rows, dict):
        raise DamagedError("results is missing or no object")
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        raise DamagedError("result_columns is missing or no list of names")
    if "result" not in columns or "params" not in columns:
        raise DamagedError("result_columns lacks result or params")
    requirements = _texts(content, "requirements")
    python = str(content.get("python", ""))
    return ResultFile(
        commit=commit,
        machine=facts.pop("machine"),
        python=python,
        requirements=requirements,
        variables=_texts(content, "env_vars"),
        machine_facts={
            name: value
            for name, value in facts.items()
            if name != "python" and name not in requirements
        },
        columns=columns,
        rows=rows,
        nan_is_marked=nan_is_marked,
    )


def read_json(path: Path) -> tuple[Any, bool]:
    """Read a JSON file as asv writes it.

    With stored samples a long history is some 100 MB of figures, which orjson reads in an
    eighth of the time. It refuses the literal ``NaN``, so that this is made a marked text
    first. No text of a file can be taken for one: a quote put inside a text ends it, and
    what follows is no JSON. What orjson refuses is read again by the standard library.

    Returns:
        The content, and whether a literal ``NaN`` in it comes as ``_NAN_MARK``.

    Raises:
        DamagedError: It cannot be read or is no JSON.
    """
    try:
        content = read_regular(path)
        try:
            return orjson.loads(content.replace(b"NaN", _NAN_WRITTEN)), True
        except orjson.JSONDecodeError:
            return json.loads(content), False
    except OSError as error:
        raise DamagedError(f"it cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"it is no JSON: {error}") from error


def _texts(content: dict[str, Any], key: str) -> dict[str, str]:
    stored = content.get(key)
    if stored is None:
        return {}
    if not isinstance(stored, dict):
        raise DamagedError(f"{key} is no object")
    return {name: "" if value is None else str(value) for name, value in stored.items()}
