"""The data files that the script reads: index, values by benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from asv_watch.records.series import Indices
from asv_watch.site import names
from asv_watch.site.contents import Contents, SeriesSummary
from asv_watch.site.index import (
    Json,
    series_in_a_file,
)
from asv_watch.site.scripts import json_bytes, write_script
from asv_watch.site.stored_numbers import published_values, shortened, whole_numbers

_Column = list[float | None]


@dataclass(frozen=True, slots=True)
class _Columns:
    """What a series has at each commit of the history."""

    numbers: dict[str, _Column]
    """Numbers of each commit, by their kind."""
    scale: tuple[int, int] | None = None
    """Decimals and middle of the values (`whole_numbers`); ``None`` if they are as they are."""

    def part(self, span: slice) -> Json:
        """Return the numbers at some commits."""
        part: Json = {} if self.scale is None else {"scale": self.scale}
        return part | {kind: column[span] for kind, column in self.numbers.items()}


def write_data_files(folder: Path, contents: Contents, index: Json) -> None:
    """Write the index and the files of every benchmark."""
    write_script(folder, "index", index)
    (folder / "index.json").write_bytes(json_bytes(index) + b"\n")
    commits = len(contents.history.commits)
    columns = [_columns(row, commits) for row in contents.series]
    for name, benchmark, members in series_files("s", contents):
        series = [_history_of(contents, row, columns[row.index]) for row in members]
        write_script(folder, name, {"benchmark": benchmark, "series": series})


def series_files(
    prefix: str, contents: Contents
) -> Iterator[tuple[str, str, Sequence[SeriesSummary]]]:
    """Divide the series of each benchmark over files.

    Args:
        prefix: Folder below ``data``.
        contents: What to divide.

    Yields:
        Name below ``data`` without ``.js``, benchmark, and the series of the file.
    """
    share = series_in_a_file(contents)
    for benchmark, members in contents.by_benchmark().items():
        for number, first in enumerate(range(0, len(members), share)):
            suffix = f"~{number}" if number else ""
            name = f"{prefix}/{names.slug(benchmark)}{suffix}"
            yield name, benchmark, members[first : first + share]


def _columns(summary: SeriesSummary, commits: int) -> _Columns:
    if not summary.has_value:
        return _Columns({})
    at, valued = summary.commits, summary.series.columns.valued
    values, interval = valued.values, valued.interval
    shown = published_values(values, is_exact=np.isnan(interval[:, 0]))
    whole = whole_numbers(shown)
    columns = {"v": _spread_out(at, shown if whole is None else whole.numbers, commits)}
    # A distance from a value of zero has no relative size.
    known = ~np.isnan(interval[:, 0]) & (values != 0)
    if known.any():
        known_values, ends = values[known], interval[known]
        for key, differences in (
            ("lo", known_values - ends[:, 0]),
            ("hi", ends[:, 1] - known_values),
        ):
            columns[key] = _spread_out(
                at[known], names.distances(differences, known_values), commits
            )
    return _Columns(columns, None if whole is None else (whole.decimals, whole.middle))


def _spread_out(at: Indices, numbers: npt.NDArray[Any], commits: int) -> _Column:
    """Return a place for each commit, with the numbers in the places of theirs."""
    column: _Column = []
    of_places = numbers.tolist()
    edges = [0, *(np.flatnonzero(np.diff(at) != 1) + 1).tolist(), len(at)]
    for start, end in pairwise(edges):
        column += [None] * (int(at[start]) - len(column))
        column += of_places[start:end]
    return column + [None] * (commits - len(column))


def _history_of(contents: Contents, summary: SeriesSummary, columns: _Columns) -> Json:
    data: Json = {"s": summary.index, "from": 0, "v": []}
    if summary.has_value:
        span = slice(int(summary.commits[0]), int(summary.commits[-1]) + 1)
        data["from"] = span.start
        data |= columns.part(span)
    if summary.others:
        reasons = sorted({reason for _, _, reason in summary.others})
        place = {reason: index for index, reason in enumerate(reasons)}
        data["reasons"] = reasons
        data["other"] = [
            [commit, outcome, place[reason]] for commit, outcome, reason in summary.others
        ]
    if joined := _joined(contents, summary.index):
        data["joined"] = joined
    return data


def _joined(contents: Contents, series: int) -> list[list[float]]:
    """Return commit, part, ratio and interval of each commit that was compared.

    Where another machine alone compared it, that machine's place in the index follows.
    """
    history = contents.history
    machines = sorted(history.machines)
    return [
        [
            history.order[history.hashes[joined_ratio.position]],
            joined_ratio.part,
            *map(shortened, (joined_ratio.ratio, *joined_ratio.interval)),
            *([machines.index(joined_ratio.machine)] if joined_ratio.machine else []),
        ]
        for joined_ratio in contents.findings.joined.get(series, ())
    ]
