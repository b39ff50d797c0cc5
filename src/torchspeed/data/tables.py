"""Number tables from files: plain or gzipped text, separated by commas, semicolons or tabs.

numpy reads the numbers: its errors name row and column, where data-frame libraries fill short rows
and turn damaged cells into missing values.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from torchspeed.errors import TorchspeedError


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of numbers with their names."""

    values: Tensor
    """(rows, columns), float32."""
    columns: tuple[str, ...]
    """Names of the columns; their indices in the file, from 0, where there is no header."""

    def __str__(self) -> str:
        shown = [*self.columns[:8], "…"] if len(self.columns) > 8 else self.columns
        return ", ".join(shown)

    def index_of(self, wanted: str, table: str) -> int | None:
        """Return the index of the column of this name, or of the ``first``; None for ``all``.

        Raises:
            TorchspeedError: no column of numbers has this name.
        """
        if wanted in self.columns:
            return self.columns.index(wanted)
        if wanted in {"all", "first"}:
            return 0 if wanted == "first" else None
        raise TorchspeedError(
            f"no column of numbers {wanted!r} in {table}; give first, all, or one of: {self}"
        )


def read_table(path: Path, columns: int | None = None) -> Table:
    """Read a file of numbers.

    The separator is whichever of comma, semicolon and tab is most frequent in the first line.
    Unless it is the comma, numbers may have decimal commas. A first line without a number is
    the header. A column whose first cell is not a number (dates, names) is left out.

    Args:
        path: gzipped when its name ends in ``.gz``.
        columns: how many it must have, where that is known.

    Raises:
        TorchspeedError: missing, damaged, empty or ragged file, or a cell that
            is not a finite number, with its row and column.
    """
    text = _read_text(path)
    separator = max(",;\t", key=text.partition("\n")[0].count)
    if separator != ",":
        text = re.sub(r"(?<=\d),(?=\d)", ".", text)
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=separator) if row]
        first, second = [*rows, [], []][:2]
        has_header = not any(map(_is_number, first))
        names = first if has_header else [str(index) for index in range(len(first))]
        numeric = [j for j, cell in enumerate(second if has_header else first) if _is_number(cell)]
        if not numeric or max(numeric) >= len(names):
            raise TorchspeedError(f"{path} holds no numbers; give a comma-separated table")
        for number, row in enumerate(rows):
            if len(row) != len(names):
                raise ValueError(f"{len(names)} columns, but {len(row)} at row {number}")
        numbers = np.loadtxt(io.StringIO(text), delimiter=separator, skiprows=int(has_header),
                             usecols=numeric, ndmin=2, quotechar='"', comments=None)  # fmt: skip
    except (ValueError, csv.Error) as error:
        reason = str(error).splitlines()[0].partition(";")[0].rstrip(".")
        raise TorchspeedError(f"{path}: {reason}; correct it, or fetch the file again") from None
    if columns is not None and len(names) != columns:
        raise TorchspeedError(
            f"{path} has {len(names)} columns where {columns} are expected; fetch it again, or "
            "read it as a table of your own with csv:FILE"
        )
    with np.errstate(over="ignore"):
        values = numbers.astype(np.float32)
    for row, column in np.argwhere(~np.isfinite(values)):
        raise TorchspeedError(
            f"{path}: {numbers[row, column]} at row {row}, column {names[numeric[column]]}; "
            "fill or drop such rows first"
        )
    return Table(torch.from_numpy(values), tuple(names[j].strip() for j in numeric))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _read_text(path: Path) -> str:
    try:
        raw = path.read_bytes()
        return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
    except FileNotFoundError:
        raise TorchspeedError(f"no file {path}; give a folder or file that exists") from None
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise TorchspeedError(
            f"{path} is damaged or not a table ({error}); delete it and fetch it again"
        ) from None
