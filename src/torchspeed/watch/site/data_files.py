"""The data files that the script reads: index, values by benchmark, values by revision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from torchspeed.watch.site import names
from torchspeed.watch.site.contents import Contents, SeriesSummary
from torchspeed.watch.site.index import (
    BLOCK,
    Json,
    published_value,
    series_in_a_file,
    shortened,
)
from torchspeed.watch.site.scripts import json_bytes, write_script

_DISTANCES = ("lo", "hi", "q1", "q3")
_Columns = dict[str, dict[int, float]]
"""Each kind of number of a series by commit index, where it has one."""


def write_data_files(folder: Path, contents: Contents, index: Json) -> None:
    """Write the index, the files of every benchmark and a file per block of revisions."""
    write_script(folder, "index", index)
    (folder / "index.json").write_bytes(json_bytes(index) + b"\n")
    columns = [_columns(row) for row in contents.series]
    for name, benchmark, members in series_files("s", contents):
        series = [_history_of(row, columns[row.index]) for row in members]
        write_script(folder, name, {"benchmark": benchmark, "series": series})
    for number, block in enumerate(_blocks(columns, len(contents.history.commits))):
        write_script(folder, f"r/{number}", {"first": number * BLOCK, "series": block})


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


def _columns(summary: SeriesSummary) -> _Columns:
    columns: _Columns = {key: {} for key in ("v", *_DISTANCES)}
    for commit, point in summary.points:
        value = point.value
        columns["v"][commit] = published_value(point)
        for low, high, spread in (("lo", "hi", point.interval), ("q1", "q3", point.quartiles)):
            if spread is not None and value != 0:
                columns[low][commit] = names.distance(value - spread[0], value)
                columns[high][commit] = names.distance(spread[1] - value, value)
    return columns


def _history_of(summary: SeriesSummary, columns: _Columns) -> Json:
    data: Json = {"s": summary.index, "from": 0, "v": []}
    values = columns["v"]
    if values:
        first, last = min(values), max(values)
        data["from"] = first
        for key, column in columns.items():
            if column:
                data[key] = [column.get(commit) for commit in range(first, last + 1)]
    if summary.others:
        reasons = sorted({reason for _, _, reason in summary.others})
        place = {reason: index for index, reason in enumerate(reasons)}
        data["reasons"] = reasons
        data["other"] = [
            [commit, outcome, place[reason]] for commit, outcome, reason in summary.others
        ]
    if summary.levels:
        data["steps"] = [
            [level.first, level.last, shortened(level.value)] for level in summary.levels
        ]
    return data


def _blocks(columns: Sequence[_Columns], commits: int) -> Iterator[list[Json | None]]:
    for first in range(0, commits, BLOCK):
        span = range(first, min(first + BLOCK, commits))
        yield [
            {
                key: [column[key].get(commit) for commit in span]
                for key in ("v", "lo", "hi")
                if column[key]
            }
            if any(commit in column["v"] for commit in span)
            else None
            for column in columns
        ]
