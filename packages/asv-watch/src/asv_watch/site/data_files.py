"""The data files that the script reads: the index, and values and source by benchmark.

``docs/answers.md`` describes them.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from asv_watch.asv.selection import pattern_of
from asv_watch.judge.changes import kind_of
from asv_watch.records.records import Benchmark
from asv_watch.site import names
from asv_watch.site.case_table import CaseTable
from asv_watch.site.contents import Contents, SeriesSummary, setup_key
from asv_watch.site.explained_data import explained_cases
from asv_watch.site.index import series_in_a_file
from asv_watch.site.pair_data import commit_pairs
from asv_watch.site.release_data import compared
from asv_watch.site.scripts import Json, shortened, write_script
from asv_watch.site.stretches import stretch_data
from asv_watch.statistics.rule import TOO_NOISY
from asv_watch.text import quantities

_PURPOSES = {
    "compare": "asked for",
    "reference": "against the reference",
    "confirm": "to confirm a change",
    "release": "of two releases",
    "bisect": "to find the commit",
}
"""Kinds of comparisons that a page lists, in words."""


def write_data_files(folder: Path, contents: Contents, table: CaseTable, index: Json) -> None:
    """Write the index and the files of every benchmark."""
    content = write_script(folder, "index", index)
    (folder / "index.json").write_bytes(content + b"\n")
    for name, benchmark, members in _series_files(contents):
        histories = [_history_of(contents, row) for row in members]
        write_script(folder, f"s/{name}", {"benchmark": benchmark, "series": histories})
    _write_sources(folder, contents, table)


def _series_files(contents: Contents) -> Iterator[tuple[str, str, Sequence[SeriesSummary]]]:
    """Divide the series of each benchmark over files.

    Yields:
        Name without ``.js``, benchmark, and the series of the file.
    """
    count = series_in_a_file(contents)
    for benchmark, members in contents.by_benchmark().items():
        for number, first in enumerate(range(0, len(members), count)):
            suffix = f"~{number}" if number else ""
            yield f"{names.slug(benchmark)}{suffix}", benchmark, members[first : first + count]


def _values_of(summary: SeriesSummary) -> Json:
    """Return the values over all commits: exact ones whole, those with an interval shortened."""
    commits, valued = summary.commits, summary.series.columns.valued
    column = np.full(commits[-1] - commits[0] + 1, None)
    column[commits - commits[0]] = [
        value if is_exact else shortened(value)
        for value, is_exact in zip(
            valued.values.tolist(), np.isnan(valued.interval[:, 0]), strict=True
        )
    ]
    return {"from": int(commits[0]), "v": column.tolist()}


def _history_of(contents: Contents, summary: SeriesSummary) -> Json:
    data: Json = {"s": summary.index, "from": 0, "v": []}
    if summary.has_value:
        data |= _values_of(summary) | {"stretches": stretch_data(summary.stretches)}
    columns = summary.series.columns
    without_value = np.flatnonzero(np.isnan(columns.values)).tolist()
    if without_value:
        commits = contents.history.indices(columns)[without_value].tolist()
        runs = [columns.stored[row] for row in without_value]
        reasons = sorted({run.reason for run in runs})
        data["reasons"] = reasons
        data["other"] = [
            [commit, run.outcome.value, reasons.index(run.reason)]
            for commit, run in zip(commits, runs, strict=True)
        ]
    if summary.index in contents.findings.compared:
        data["pairs"] = commit_pairs(contents, summary)
    return data


def _write_sources(folder: Path, contents: Contents, table: CaseTable) -> None:
    """Write what pages of cases show beside values: source, comparisons and the like."""
    by_row: dict[tuple[str, str], list[SeriesSummary]] = defaultdict(list)
    for row in contents.series:
        by_row[_subject(row, contents)].append(row)
    comparisons = _comparisons(contents)
    explained = explained_cases(contents)
    for benchmark, members in contents.by_benchmark().items():
        cases = dict.fromkeys(row.series.case.name for row in members)
        data = _source(members[0].benchmark) | {
            "sentences": {
                case: f"{sentence}."
                for case in cases
                if (shown := table.find(case))
                and (sentence := table.in_words(shown, contents.layout))
            },
            "commands": {case: measure_command(case) for case in cases},
            "comparisons": {case: comparisons[case] for case in cases if case in comparisons},
            "explanations": {case: explained[case] for case in cases if case in explained},
            "noise": {
                str(row.index): quantities.share(row.noise)
                for row in members
                if row.noise is not None
            },
            "unclear": {
                str(row.index): f"nothing below {quantities.share(smallest)} would show"
                for row in members
                if (smallest := _smallest_change(contents, row)) >= TOO_NOISY
            },
            "related": {
                str(row.index): [
                    other.index
                    for other in by_row[_subject(row, contents)]
                    if _is_related(row, other)
                ]
                for row in members
            },
        }
        write_script(folder, f"c/{names.slug(benchmark)}", data)


def _smallest_change(contents: Contents, row: SeriesSummary) -> float:
    """Return the smallest change that comparisons of a case can show; 0 without comparisons."""
    if kind_of(row.benchmark) not in {"time", "memory"}:
        return 0.0
    detectable = contents.findings.detectable.get(row.series.machine)
    return detectable.by_case.get(row.series.case.name, 0.0) if detectable else 0.0


def _comparisons(contents: Contents) -> dict[str, list[Json]]:
    listed: dict[str, list[tuple[int, Json]]] = defaultdict(list)
    for machine, comparisons in contents.history.comparisons.items():
        graphs = contents.findings.graphs[machine]
        for comparison in comparisons:
            sitting = comparison.sitting
            if sitting.kind not in _PURPOSES:
                continue
            for before, after in pairwise(comparison.measured_sides):
                ratio = graphs.alone(comparison, before, after)
                if ratio is None or ratio.exact:
                    continue
                sides = names.version_names(sitting.versions[before], sitting.versions[after])
                shown = {
                    "purpose": _PURPOSES[sitting.kind],
                    "machine": machine,
                    "day": quantities.day(comparison.at),
                    "before": sides[0],
                    "after": sides[1],
                }
                listed[comparison.case].append((comparison.at, shown | compared(ratio)))
    return {
        case: [shown for _, shown in sorted(entries, key=lambda entry: -entry[0])]
        for case, entries in listed.items()
    }


def measure_command(case: str) -> str:
    """Return the command that measures one case again, to be typed in a checkout."""
    return f"asv-watch bench --cases '^{pattern_of(case)}$'"


def description(benchmark: Benchmark) -> str:
    """Return the docstring of a benchmark's function, else of its class; empty without either."""
    try:
        tree = ast.parse(benchmark.code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    function = benchmark.name.rpartition(".")[2]
    documented = [
        node
        for kind in (ast.FunctionDef, ast.ClassDef)
        for node in ast.walk(tree)
        if isinstance(node, kind) and (kind is ast.ClassDef or node.name == function)
    ]
    return next((text for text in map(ast.get_docstring, documented) if text), "")


def _subject(row: SeriesSummary, contents: Contents) -> tuple[str, str]:
    """Return the subject of a series: its row, with its group if rows are functions' names."""
    return row.row, "" if contents.layout.rows else row.group


def _source(benchmark: Benchmark) -> Json:
    return {
        "benchmark": benchmark.name,
        "description": description(benchmark),
        "code": benchmark.code,
        "version": benchmark.version,
        "timeout": benchmark.timeout,
    }


def _is_related(row: SeriesSummary, other: SeriesSummary) -> bool:
    if row.benchmark is other.benchmark or not other.has_value:
        return False
    if setup_key(row.series) != setup_key(other.series):
        return False
    labels, others = row.labels, other.labels
    return all(
        labels[key] == others[key]
        for key in labels.keys() & others.keys()
        if key != "metric" and labels[key] and others[key]
    )
