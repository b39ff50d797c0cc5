"""Compares result files of asv or other tools, without a project."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from asv_watch.answers import Answer, Difference
from asv_watch.asv.selection import EVERYTHING, matching
from asv_watch.compare.apart import compare_apart
from asv_watch.compare.report import RULE
from asv_watch.errors import WatchError
from asv_watch.records.records import Benchmark, Point, benchmark_of, case_name
from asv_watch.records.result_files import DamagedError, ResultFile, read_result_file
from asv_watch.records.stored_runs import SPREAD_COLUMNS, runs_of_row
from asv_watch.records.suite_lists import read_benchmarks
from asv_watch.text import quantities
from asv_watch.text.markdown import table

Sort = Literal["change", "name"]
_UNITS = (("time", "seconds"), ("peakmem", "bytes"), ("mem", "bytes"))
"""Maps the beginning of a function's name to its unit, used if no list of benchmarks has it."""


@dataclass(frozen=True, slots=True)
class _File:
    """The contents of one result file."""

    label: str
    points: Mapping[str, Point]
    """Maps a case to its value."""
    facts: Mapping[str, str]
    """Machine and environment."""
    benchmarks: Mapping[str, Benchmark] = field(default_factory=dict)
    """Benchmarks by name, if asv's list of benchmarks is beside the file."""


def compare_files(
    paths: Sequence[Path],
    labels: Sequence[str] = (),
    *,
    cases: str = "",
    sort: Sort = "change",
    only_changed: bool = False,
) -> tuple[str, Answer]:
    """Compare two or more result files.

    Args:
        paths: the files; each is compared with the first one.
        labels: what tables call them, in the same order; by default names of the files.
        cases: regular expression of cases; all if empty.
        sort: the order of the rows: the largest change of the last file first, or by name.
        only_changed: leave out the cases in which no file differs from the first.

    Returns:
        The report in Markdown, aligned for the terminal, and the answer.

    Raises:
        WatchError: a file is missing or damaged, or the files have no case in common.
    """
    if len(paths) < 2:
        raise WatchError("one result file has nothing to be compared with; name two or more")
    if labels and len(labels) != len(paths):
        raise WatchError(f"{len(labels)} labels are given for {len(paths)} files; give one each")
    files = [
        _read(path, label)
        for path, label in zip(paths, labels or _short_names(paths), strict=True)
    ]
    selection = matching(cases, otherwise=EVERYTHING)
    first = files[0]
    rows = [
        [_compare(case, first, file) for file in files[1:]]
        for case in first.points
        if selection.matches(case) and all(case in file.points for file in files)
    ]
    if not rows:
        raise WatchError(
            "the files have no case in common that matches; `asv show` lists the cases of a file"
        )
    rows.sort(key=lambda row: (_nearness_to_1(row[-1]) if sort == "change" else 0.0, row[0].case))
    shown = [row for row in rows if not only_changed or any(change.differs for change in row)]
    answer = Answer("compare", first.label, files[-1].label, [row[-1] for row in rows])
    return _report(files, shown, len(rows)), answer


def _short_names(paths: Sequence[Path]) -> list[str]:
    """Return the files' commits if these differ, or else their names with enough folders."""
    commits = [path.name.partition("-")[0] for path in paths]
    if len(set(commits)) == len(commits):
        return commits
    resolved = [path.absolute().with_suffix("") for path in paths]
    for count in itertools.count(1):
        names = ["/".join(path.parts[-count:]) for path in resolved]
        if len(set(names)) == len(names) or count > max(len(path.parts) for path in resolved):
            return names
    raise AssertionError  # pragma: no cover - the loop has no end


def _read(path: Path, label: str) -> _File:
    try:
        content = read_result_file(path)
        points = dict(_points(content))
    except DamagedError as error:
        raise WatchError(f"{path} cannot be compared: {error}") from error
    benchmarks: dict[str, Benchmark] = {}
    for folder in (path.parent, path.parent.parent):
        if (folder / "benchmarks.json").is_file():
            benchmarks, _ = read_benchmarks(folder)
    return _File(label, points, content.facts | {"machine": content.machine}, benchmarks)


def _points(content: ResultFile) -> Iterator[tuple[str, Point]]:
    """Yield the cases of a file that have a value."""
    for benchmark in content.results:
        row = content.row(benchmark)
        columns = [row.column(name) for name in ("result", *SPREAD_COLUMNS)]
        cases = itertools.product(*row.params) if row.params else [()]
        runs = runs_of_row(columns, None, [None] * row.count, "")
        for params, run in zip(cases, runs, strict=True):
            if run is not None and run.point is not None:
                yield case_name(benchmark, params), run.point


def _benchmark(case: str, file: _File) -> Benchmark:
    name = benchmark_of(case)
    function = name.rpartition(".")[2]
    guessed = (unit for part, unit in _UNITS if function.startswith(part))
    return file.benchmarks.get(name) or Benchmark(name, unit=next(guessed, "unit"))


def _compare(case: str, first: _File, file: _File) -> Difference:
    points, benchmark = (first.points[case], file.points[case]), _benchmark(case, first)
    return compare_apart(case, *points, benchmark, file.facts["machine"])


def _nearness_to_1(difference: Difference) -> float:
    """Return a number that is less for a larger change, in whichever direction."""
    return -abs(math.log(difference.ratio)) if difference.ratio else 0.0


def _report(files: Sequence[_File], rows: Sequence[Sequence[Difference]], count: int) -> str:
    first, *others = files
    head = ["case", first.label]
    for file in others:
        head += [file.label, "change", "interval", "verdict"]
    cells = []
    for changes in rows:
        row = [f"`{changes[0].case}`", changes[0].values[0]]
        for change in changes:
            row += [change.values[1], change.change, change.ends, change.word]
        cells.append(row)
    parts = [
        table(head, cells) if cells else f"no difference in {quantities.counted(count, 'case')}"
    ]
    parts += _only_there(files)
    parts.append(_environments(files))
    parts.append(
        f"{RULE} The files were measured in separate runs, so a difference is only suspected; "
        "`asv-watch compare` in the project measures the two versions interleaved."
    )
    return "\n\n".join(filter(None, parts))


def _only_there(files: Sequence[_File]) -> Iterator[str]:
    """Say how many cases one file has and the other lacks."""
    common = set.intersection(*(set(file.points) for file in files))
    for file in files:
        if alone := set(file.points) - common:
            cases = quantities.counted(len(alone), "case")
            yield f"{file.label} has {cases} that another file lacks"


def _environments(files: Sequence[_File]) -> str:
    """Return a table of the facts of machine and environment in which the files differ."""
    names = dict.fromkeys(name for file in files for name in file.facts)
    rows = [
        (name, *(file.facts.get(name, "") for file in files))
        for name in names
        if len({file.facts.get(name) for file in files}) > 1
    ]
    return table(("environment", *(file.label for file in files)), rows) if rows else ""
