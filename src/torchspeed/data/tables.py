"""Number tables from files: plain or gzipped text, separated by commas, semicolons or tabs.

Read with the standard library's csv module rather than a data-frame library: those fill short
rows and turn damaged cells into missing values, and an error here has to name row and column.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from torchspeed.errors import TorchspeedError

_DECIMAL_COMMA = re.compile(r"^(\s*[+-]?\d*),(\d+(?:[eE][+-]?\d+)?\s*)$")


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of numbers with their names."""

    values: Tensor
    """(rows, columns), float32."""
    columns: tuple[str, ...]
    """A name for each column; its index in the file, from 0, where there is no header."""
    positions: tuple[int, ...]
    """Index of each column in the file, from 0."""
    left_out: tuple[str, ...] = ()
    """Columns of the file that hold no number at all, such as dates."""

    def __str__(self) -> str:
        rows = f"{len(self.values)} rows of {', '.join(_shown(self.columns))}"
        without = f"; left out: {', '.join(_shown(self.left_out))}" if self.left_out else ""
        return rows + without

    def index_of(self, wanted: str, place: Path | str) -> int | None:
        """Place in ``values`` of a column; None for all.

        Args:
            wanted: its name, its index in the file from 0, ``first`` or ``all``.
            place: where the table comes from, for messages.

        Raises:
            TorchspeedError: there is no such column, or it holds no numbers.
        """
        if wanted in self.columns:
            return self.columns.index(wanted)
        if wanted in {"all", "first"}:
            return 0 if wanted == "first" else None
        if wanted.isdecimal() and int(wanted) in self.positions:
            return self.positions.index(int(wanted))
        width = len(self.columns) + len(self.left_out)
        shown = ", ".join(_shown(self.columns))
        if wanted in self.left_out or (wanted.isdecimal() and int(wanted) < width):
            raise TorchspeedError(
                f"column {wanted!r} of {place} holds no numbers; columns of numbers are {shown}"
            )
        raise TorchspeedError(
            f"no column {wanted!r} in {place}; give an index below {width}, first, all, or one "
            f"of: {shown}"
        )


def read_table(path: Path, columns: int | None = None) -> Table:
    """Read a file of numbers.

    The separator is the one of comma, semicolon and tab that the first line has most of. With
    another separator than the comma, numbers may have decimal commas. A first line without a
    single number is the header. A column without a single number (dates, names) is left out and
    listed.

    Args:
        path: the file; gzipped when its name ends in ``.gz``.
        columns: how many columns it must have, where that is known.

    Raises:
        TorchspeedError: missing, damaged, empty or ragged file, or a cell that
            is not a finite number, with its line and column.
    """
    text = _read_text(path)
    try:
        rows = _rows(text)
    except csv.Error as error:
        raise TorchspeedError(
            f"{path} is not a table ({error}); look for a quotation mark that is not closed"
        ) from None
    if not rows:
        raise TorchspeedError(f"{path} is empty; fetch it again or give another file")
    has_header = all(_number(cell) is None for cell in rows[0])
    first_line = 1 + has_header
    names = [cell.strip() for cell in rows[0]] if has_header else []
    body = rows[has_header:]
    if not body:
        raise TorchspeedError(f"{path} has a header but no rows; fetch it again")
    width = len(names) if has_header else len(body[0])
    names = names or [str(index) for index in range(width)]
    for number, row in enumerate(body, start=first_line):
        if len(row) != width:
            raise TorchspeedError(
                f"{path}, row {number}: {len(row)} columns where {width} are expected; "
                "mend the row, or fetch the file again"
            )
    if columns is not None and width != columns:
        raise TorchspeedError(
            f"{path} has {width} columns where {columns} are expected; fetch it again, or read "
            "it as a table of your own with csv:FILE"
        )
    numeric = [j for j in range(width) if any(_number(row[j]) is not None for row in body)]
    if not numeric:
        raise TorchspeedError(f"{path} holds no column of numbers; give a comma-separated table")
    array = np.array([[_number(row[j]) for j in numeric] for row in body], dtype=np.float64)
    for number, place in np.argwhere(~np.isfinite(array)):  # what is not a number is nan there
        j = numeric[place]
        raise TorchspeedError(
            f"{path}, row {first_line + number}, column {names[j]}: {body[number][j]!r} is not a "
            "finite number; fill or drop such rows first"
        )
    return Table(
        values=torch.from_numpy(array.astype(np.float32)),
        columns=tuple(names[j] for j in numeric),
        positions=tuple(numeric),
        left_out=tuple(names[j] for j in range(width) if j not in numeric),
    )


def _rows(text: str) -> list[list[str]]:
    """Cells of every line that is not empty, with points for decimal commas."""
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    separator = max(",;\t", key=first.count)
    rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    if separator != ",":
        rows = [[_DECIMAL_COMMA.sub(r"\1.\2", cell) for cell in row] for row in rows]
    return rows


def _shown(names: tuple[str, ...]) -> list[str]:
    return [*names[:8], "…"] if len(names) > 8 else list(names)


def _read_text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise TorchspeedError(f"no file {path}; give a folder or file that exists") from None
    except OSError as error:
        raise TorchspeedError(f"{path} cannot be read: {error.strerror}") from None
    try:
        if path.suffix == ".gz":
            raw = gzip.decompress(raw)
        return raw.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error):
        raise TorchspeedError(
            f"{path} is damaged or cut short; delete it and fetch it again"
        ) from None
    except UnicodeDecodeError:
        raise TorchspeedError(f"{path} is not text; give a comma-separated table") from None


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
