"""One of asv's result files: the results of one commit in one environment.

The format is asv's api version 2. ``results`` maps a benchmark to a row whose
cells are named by ``result_columns``; trailing empty cells are cut off. A cell
of a benchmark with parameters is a list over the cartesian product of their
values, last parameter fastest, or ``null`` when all entries would be. In the
``result`` cell a literal ``NaN`` is a case that was not run, ``null`` one that
gave no value.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, TypeGuard, TypeVar

import msgspec

from asv_watch.files import read_regular
from asv_watch.records.records import Environment
from asv_watch.records.suite_lists import MOST_CASES

NAN_MARK = "\x00NaN"
"""Text that `read_json` returns for a literal ``NaN`` where msgspec could read the file."""
_MARK_AS_TEXT = rb"\u0000NaN"

T = TypeVar("T")
NUMBERS = frozenset({float, int})
"""Types of stored numbers, without `bool`, which is a subclass of `int`."""
LARGEST = sys.float_info.max


def is_finite_number(value: Any) -> TypeGuard[float]:
    """Tell whether a stored value can be shown: ``True`` and ``10**400`` cannot."""
    return type(value) in NUMBERS and -LARGEST <= value <= LARGEST


def is_missing(value: Any) -> bool:
    """Tell whether a stored value says that there is none: ``null`` or ``NaN``."""
    return value is None or value == NAN_MARK or value != value  # noqa: PLR0124 - NaN


class DamagedError(Exception):
    """A result file, or a part of it, does not have the shape that asv writes."""


class Row(msgspec.Struct, frozen=True):
    """The results of one benchmark: cells over the product of its parameters."""

    params: tuple[tuple[str, ...], ...]
    version: str
    """Empty where none is stored."""
    cells: dict[str, Any]
    """Column name to the cell as stored."""
    count: int
    """Number of cases: the length of each cell that is a list."""

    def column(self, name: str) -> list[Any]:
        """Return one cell as a list over the cases.

        Raises:
            DamagedError: The cell is not a list, or has another length.
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
        """Refuse a file that lacks its machine or a column, which msgspec cannot check."""
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
    fraction of the standard library's time. It refuses the literal ``NaN``, which is replaced by
    the text `NAN_MARK` first. If msgspec cannot parse that, such as a text with a ``NaN`` in it,
    the standard library reads the file; texts that equal the mark are altered to differ from it.

    Raises:
        DamagedError: It cannot be read, is not JSON, or has another shape.
    """
    try:
        content = read_regular(path)
        try:
            marked = (b'"' + _MARK_AS_TEXT + b'"').join(content.split(b"NaN"))  # in one search
            return msgspec.json.decode(marked, type=shape)
        except msgspec.ValidationError:
            raise
        except (msgspec.DecodeError, UnicodeDecodeError):
            content = content.replace(_MARK_AS_TEXT, b"\\u0000" + _MARK_AS_TEXT)
            return msgspec.convert(json.loads(content), shape)
    except OSError as error:
        raise DamagedError(f"it cannot be read: {error.strerror}") from error
    except msgspec.ValidationError as error:
        raise DamagedError(f"it does not have the shape that asv writes: {error}") from error
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"it is not JSON: {error}") from error


def read_result_file(path: Path) -> ResultFile:
    """Read one result file and check it, but not its rows, which `ResultFile.row` decodes.

    Raises:
        DamagedError: It cannot be read, is not JSON, or does not have asv's shape.
    """
    try:
        return read_json(path, ResultFile)
    except DamagedError as error:
        if "$.version" in str(error):
            raise DamagedError("it is not in asv's format 2: run `asv update`") from error
        raise
