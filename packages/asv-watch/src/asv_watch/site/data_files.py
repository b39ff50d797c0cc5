"""The data files of each benchmark: its values, and where they come from."""

import ast
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np

from asv_watch.asv.selection import pattern_of
from asv_watch.comparison import Outcome
from asv_watch.judge.changes import kind_of
from asv_watch.records.records import Benchmark
from asv_watch.site import names
from asv_watch.site.case_table import CaseTable
from asv_watch.site.causes import Explained, explained_cases
from asv_watch.site.contents import Contents, SeriesSummary, Stretch, setup_key
from asv_watch.site.index import series_in_a_file
from asv_watch.site.pair_data import PairRow, commit_pairs
from asv_watch.site.release_data import Compared
from asv_watch.site.scripts import shortened, write_script
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


class BenchmarkSeries(msgspec.Struct, omit_defaults=True):
    """One series of a benchmark's file."""

    s: int
    """Its index."""
    start: int = msgspec.field(name="from")
    v: list[float | None]
    """The values at the commit ``from`` and at each one after it."""
    stretches: tuple[Stretch, ...] = ()
    """Oldest first."""
    reasons: list[str] = []
    other: list[tuple[int, Outcome, int]] = []
    """Runs without a value: commit, outcome, index of the reason in ``reasons``."""
    pairs: list[PairRow] = []
    """Every two commits that comparisons join; of many, those compared and neighbours."""


class BenchmarkFile(msgspec.Struct):
    """Series of a benchmark: ``data/s/<slug>.js``, ``…~1.js`` and so on."""

    benchmark: str
    series: list[BenchmarkSeries]


class CaseComparison(Compared):
    """A comparison of one case, as its page lists it."""

    purpose: str
    machine: str
    day: str
    before: str
    after: str
    before_text: str
    """Values of both sides, whose quotient is the ratio."""
    after_text: str


class BenchmarkSource(msgspec.Struct):
    """Where a benchmark's values come from: ``data/c/<slug>.js``."""

    benchmark: str
    description: str
    code: str
    version: str
    timeout: float | None
    sentences: dict[str, str]
    """By case: what it measures, as people call it; no case whose row or column has no such
    name."""
    commands: dict[str, str]
    """By case: the command that measures it again."""
    comparisons: dict[str, list[CaseComparison]]
    """By case: its interleaved comparisons, the newest first."""
    explanations: dict[str, list[Explained]]
    """By case: which operators differ, that of the largest difference first."""
    noise: dict[int, str]
    """By series: how much its values differ between runs of the same code."""
    unclear: dict[int, str]
    """For series too noisy to say that nothing changed: the change that would not show."""
    related: dict[int, list[int]]
    """By series: the series of other metrics of the same work, machine and environment."""


def write_benchmarks(folder: Path, contents: Contents, table: CaseTable) -> None:
    """Write the files of every benchmark."""
    share = series_in_a_file(contents)
    for name, members in contents.by_benchmark().items():
        histories = [_history_of(contents, row) for row in members]
        for first in range(0, len(members), share):
            suffix = f"~{first // share}" if first else ""
            file = BenchmarkFile(name, histories[first : first + share])
            write_script(folder, f"s/{names.slug(name)}{suffix}", file)
    _write_sources(folder, contents, table)


def _values_of(summary: SeriesSummary) -> tuple[int, list[float | None]]:
    """Return the first commit with a value, and the values from there on.

    Times are shortened, exact ones are whole.
    """
    if not summary.has_value:
        return 0, []
    commits, valued = summary.commits, summary.series.columns.valued
    column = np.full(commits[-1] - commits[0] + 1, None)
    values = valued.values.tolist()
    is_timed = summary.benchmark.type == "time"
    column[commits - commits[0]] = list(map(shortened, values)) if is_timed else values
    return int(commits[0]), column.tolist()


def _history_of(contents: Contents, summary: SeriesSummary) -> BenchmarkSeries:
    columns = summary.series.columns
    without_value = np.flatnonzero(np.isnan(columns.values)).tolist()
    commits = contents.history.indices(columns)[without_value].tolist()
    runs = [columns.stored[row] for row in without_value]
    reasons = sorted({run.reason for run in runs})
    return BenchmarkSeries(
        summary.index,
        *_values_of(summary),
        summary.stretches,
        reasons,
        [
            (commit, run.outcome, reasons.index(run.reason))
            for commit, run in zip(commits, runs, strict=True)
        ],
        commit_pairs(contents, summary) if summary.index in contents.findings.compared else [],
    )


def _write_sources(folder: Path, contents: Contents, table: CaseTable) -> None:
    """Write what pages of cases show beside values: source, comparisons and the like."""
    by_row: dict[tuple[str, str], list[SeriesSummary]] = defaultdict(list)
    for row in contents.series:
        by_row[_subject(row, contents)].append(row)
    comparisons = _comparisons(contents)
    explained = explained_cases(contents)
    for name, members in contents.by_benchmark().items():
        benchmark = members[0].benchmark
        cases = dict.fromkeys(row.series.case.name for row in members)
        data = BenchmarkSource(
            benchmark=name,
            description=description(benchmark),
            code=benchmark.code,
            version=benchmark.version,
            timeout=benchmark.timeout,
            sentences={
                case: f"{sentence}."
                for case in cases
                if (shown := table.find(case))
                and (sentence := table.in_words(shown, contents.layout))
            },
            commands={case: measure_command(case) for case in cases},
            comparisons={case: comparisons[case] for case in cases if case in comparisons},
            explanations={case: explained[case] for case in cases if case in explained},
            noise={
                row.index: quantities.share(row.noise) for row in members if row.noise is not None
            },
            unclear={
                row.index: f"nothing below {quantities.share(smallest)} would show"
                for row in members
                if (smallest := _smallest_change(contents, row)) >= TOO_NOISY
            },
            related={
                row.index: [
                    other.index
                    for other in by_row[_subject(row, contents)]
                    if _is_related(row, other)
                ]
                for row in members
            },
        )
        write_script(folder, f"c/{names.slug(name)}", data)


def _smallest_change(contents: Contents, row: SeriesSummary) -> float:
    """Return the smallest change that comparisons of a case can show; 0 without comparisons."""
    if kind_of(row.benchmark) not in {"time", "memory"}:
        return 0.0
    detectable = contents.findings.detectable.get(row.series.machine)
    return detectable.by_case.get(row.series.case.name, 0.0) if detectable else 0.0


def _comparisons(contents: Contents) -> dict[str, list[CaseComparison]]:
    listed: dict[str, list[tuple[int, CaseComparison]]] = defaultdict(list)
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
                shown = CaseComparison.of(
                    ratio,
                    purpose=_PURPOSES[sitting.kind],
                    machine=machine,
                    day=quantities.day(comparison.at),
                    before=sides[0],
                    after=sides[1],
                    before_text=quantities.quantity(ratio.before, ratio.unit),
                    after_text=quantities.quantity(ratio.after, ratio.unit),
                )
                listed[comparison.case].append((comparison.at, shown))
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
