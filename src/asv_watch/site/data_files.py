"""The data files that the script reads: index, values by benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from asv_watch.records.history import Indices
from asv_watch.site import names
from asv_watch.site.contents import Contents, SeriesSummary
from asv_watch.site.index import Json, series_in_a_file
from asv_watch.site.scripts import distances, json_bytes, shortened, write_script


def write_data_files(folder: Path, contents: Contents, index: Json) -> None:
    """Write the index and the files of every benchmark."""
    write_script(folder, "index", index)
    (folder / "index.json").write_bytes(json_bytes(index) + b"\n")
    for name, benchmark, members in series_files("s", contents):
        series = [_history_of(contents, row) for row in members]
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


def _values_of(summary: SeriesSummary) -> Json:
    """Return values and intervals with a place for each commit from the first to the last."""
    at, valued = summary.commits, summary.series.columns.valued
    values, interval = valued.values, valued.interval
    # A distance from a value of zero has no relative size.
    known = ~np.isnan(interval[:, 0]) & (values != 0)
    is_exact = np.isnan(interval[:, 0]).tolist()
    shown = [
        value if exact else shortened(value)
        for value, exact in zip(values.tolist(), is_exact, strict=True)
    ]
    data = {"from": int(at[0]), "v": _spread_out(at, at, shown)}
    if known.any():
        centres, ends = values[known], interval[known]
        for key, differences in (("lo", centres - ends[:, 0]), ("hi", ends[:, 1] - centres)):
            data[key] = _spread_out(at, at[known], distances(differences, centres))
    return data


def _spread_out(span: Indices, at: Indices, numbers: Sequence[float]) -> list[float | None]:
    """Return a place for each commit of a span, with the numbers in the places of theirs."""
    column: list[float | None] = [None] * int(span[-1] - span[0] + 1)
    for index, number in zip((at - span[0]).tolist(), numbers, strict=True):
        column[index] = number
    return column


def _history_of(contents: Contents, summary: SeriesSummary) -> Json:
    data: Json = {"s": summary.index, "from": 0, "v": []}
    if summary.has_value:
        data |= _values_of(summary)
    if summary.others:
        reasons = sorted({reason for _, _, reason in summary.others})
        data["reasons"] = reasons
        data["other"] = [
            [commit, outcome, reasons.index(reason)] for commit, outcome, reason in summary.others
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
