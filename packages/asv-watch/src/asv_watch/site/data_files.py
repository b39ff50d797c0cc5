"""The data files of each benchmark: its values, where they come from, and measured ratios.

The view Compare looks up the ratio of any two commits, releases or cases that comparisons join:
nothing is judged in the browser.
"""

import ast
import math
from collections import defaultdict
from itertools import combinations, pairwise
from pathlib import Path

import msgspec

from asv_watch.asv.selection import pattern_of
from asv_watch.comparison import Outcome, Ratio
from asv_watch.judge.changes import kind_of
from asv_watch.judge.release_history import ReleaseHistory
from asv_watch.judge.segments import noise_between_runs
from asv_watch.records.records import Benchmark
from asv_watch.site import names
from asv_watch.site.causes import Explained, explained_cases
from asv_watch.site.contents import Contents
from asv_watch.site.release_data import Compared
from asv_watch.site.scripts import shortened, shortened_ends, write_script
from asv_watch.site.series import SeriesSummary, Stretch
from asv_watch.statistics.rule import TOO_NOISY, Verdict
from asv_watch.text import quantities
from asv_watch.versions.version import Release

VALUES = 60_000
"""Most values in a file of series, about a megabyte. More are divided over several files, so that
the timeline of one series of a long history does not wait for all the others."""
_PURPOSES = {
    "compare": "asked for",
    "reference": "against the reference",
    "confirm": "to confirm a change",
    "release": "of two releases",
    "bisect": "to find the commit",
}
"""Kinds of comparisons that a page lists, in words."""

_SIGNS = {Verdict.BETTER: -1, Verdict.SAME: 0, Verdict.WORSE: 1}


class PairRow(msgspec.Struct, array_like=True):
    """The ratio of two versions by all comparisons that join them."""

    p: int
    """Index of the earlier version, and of the later."""
    c: int
    ratio: float
    low: float
    """Ends of its interval."""
    high: float
    sign: int
    """-1 is better, 1 is worse."""
    level: float
    """Geometric mean of the values of both."""
    cpu_time: int
    """1 if the ratio is of CPU time instead of wall time."""
    pale: int
    """1 if the difference is below 5 %, and fewer than two days show it."""


class ComparedCases(msgspec.Struct):
    """Cases that do the same in two ways, measured interleaved."""

    machine: str
    conditions: str
    """What it was measured with: ``torch 2.15.0``."""
    pairs: list[PairRow]
    """Their versions are indices of cases."""


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


def series_in_a_file(contents: Contents) -> int:
    """Return how many series of a benchmark one file holds."""
    return max(1, VALUES // max(1, len(contents.history.commits)))


def write_benchmarks(folder: Path, contents: Contents) -> None:
    """Write the files of every benchmark."""
    share, segments = series_in_a_file(contents), contents.findings.segments
    by_subject: dict[tuple[str, ...], list[SeriesSummary]] = defaultdict(list)
    for row in contents.series:
        by_subject[_subject(row, contents)].append(row)
    comparisons, explained = _comparisons(contents), explained_cases(contents)
    for name, members in contents.by_benchmark().items():
        histories = [_history_of(contents, row) for row in members]
        for first in range(0, len(members), share):
            suffix = f"~{first // share}" if first else ""
            file = BenchmarkFile(name, histories[first : first + share])
            write_script(folder, f"s/{names.slug(name)}{suffix}", file)
        benchmark = members[0].benchmark
        cases = dict.fromkeys(row.case for row in members)
        in_words = {case: contents.cases.in_words(case) for case in cases}
        source = BenchmarkSource(
            benchmark=name,
            description=description(benchmark),
            code=benchmark.code,
            version=benchmark.version,
            timeout=benchmark.timeout,
            sentences={case: f"{words}." for case, words in in_words.items() if words},
            commands={case: f"asv-watch bench --cases '^{pattern_of(case)}$'" for case in cases},
            comparisons={case: comparisons[case] for case in cases if case in comparisons},
            explanations={case: explained[case] for case in cases if case in explained},
            noise={
                row.index: quantities.share(noise)
                for row in members
                if (noise := noise_between_runs(segments[row.index])) is not None
            },
            unclear={
                row.index: f"nothing below {quantities.share(smallest)} would show"
                for row in members
                if (smallest := _smallest_change(contents, row)) >= TOO_NOISY
            },
            related={
                row.index: [
                    other.index
                    for other in by_subject[_subject(row, contents)]
                    if _is_related(row, other)
                ]
                for row in members
            },
        )
        write_script(folder, f"c/{names.slug(name)}", source)


def _values_of(summary: SeriesSummary) -> tuple[int, list[float | None]]:
    """Return the first commit with a value, and the values from there on.

    Times are shortened, exact ones are whole.
    """
    valued, is_timed = summary.series.valued, summary.benchmark.type == "time"
    values = map(shortened, valued.values.tolist()) if is_timed else valued.values.tolist()
    value_at = dict(zip(valued.indices.tolist(), values, strict=True))
    first, last = min(value_at, default=0), max(value_at, default=-1)
    return first, [value_at.get(commit) for commit in range(first, last + 1)]


def _history_of(contents: Contents, summary: SeriesSummary) -> BenchmarkSeries:
    runs = zip(summary.series.indices.tolist(), summary.series.runs, strict=True)
    others = [(commit, run) for commit, run in runs if run.outcome is not Outcome.OK]
    reasons = sorted({run.reason for _, run in others})
    return BenchmarkSeries(
        summary.index,
        *_values_of(summary),
        summary.stretches,
        reasons,
        [(commit, run.outcome, reasons.index(run.reason)) for commit, run in others],
        commit_pairs(contents, summary) if summary.index in contents.findings.compared else [],
    )


def _smallest_change(contents: Contents, row: SeriesSummary) -> float:
    """Return the smallest change that comparisons of a case can show; 0 without comparisons."""
    if kind_of(row.benchmark) not in {"time", "memory"}:
        return 0.0
    detectable = contents.findings.detectable.get(row.machine)
    return detectable.by_case.get(row.case, 0.0) if detectable else 0.0


def _comparisons(contents: Contents) -> dict[str, list[CaseComparison]]:
    listed: dict[str, list[tuple[int, CaseComparison]]] = defaultdict(list)
    for machine, graphs in contents.findings.graphs.items():
        for comparison in graphs.comparisons:
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


def _subject(row: SeriesSummary, contents: Contents) -> tuple[str, ...]:
    """Return what a series is about: setup, row, and its group if rows are functions' names."""
    return *row.setup, row.row, "" if contents.layout.rows else row.group


def _is_related(row: SeriesSummary, other: SeriesSummary) -> bool:
    if row.benchmark is other.benchmark or other.last is None:
        return False
    labels, others = row.labels, other.labels
    return all(
        labels[key] == others[key]
        for key in labels.keys() & others.keys()
        if key != "metric" and labels[key] and others[key]
    )


def commit_pairs(contents: Contents, row: SeriesSummary) -> list[PairRow]:
    """Return the pairs of commits of a series.

    Values are those of the newest run, times ratios, so that a commit has one value everywhere.
    """
    compared = contents.findings.compared[row.index]
    values: dict[int, float] = {}
    if row.last and row.last[0] in compared.nodes:
        newest, run = row.last
        for commit in compared.nodes:
            if ratio := compared.ratio(commit, newest):
                values[commit] = run.value / ratio.ratio
    return [
        _row(*ends, ratio, values.get(ends[0])) for ends, ratio in compared.all_pairs().items()
    ]


def release_pairs(contents: Contents) -> list[dict[str, list[PairRow]]]:
    """Return the pairs of releases of each machine by case, in the order of release histories.

    Values are that of the newest run with the newest release, times ratios.
    """
    newest: dict[tuple[str, str, Release], float] = {
        (row.machine, row.case, row.environment.release): row.last[1].value
        for row in contents.series
        if row.last
    }

    def pairs(history: ReleaseHistory, case: str) -> list[PairRow]:
        release = Release(history.requirement, history.releases[-1])
        reference = newest.get((history.machine, case, release), 0.0)
        values = {name: reference * ratio.ratio for name, ratio in history.relative[case].items()}
        return [
            _row(first, last, ratio, values.get(before))
            for (first, before), (last, after) in combinations(enumerate(history.releases), 2)
            if (ratio := history.ratio(case, before, after))
        ]

    return [
        {case: pairs(history, case) for case in history.relative}
        for history in contents.findings.release_histories
    ]


def case_pairs(contents: Contents) -> list[ComparedCases]:
    """Return the compared cases of each machine and release.

    Of a pair that was compared several times the newest counts. Its interval includes the noise
    that the machine's other comparisons show. Cases that no suite has any more are left out.
    """
    index_of = contents.cases.index_of
    pairs: defaultdict[tuple[str, Release], dict[tuple[str, str], PairRow]] = defaultdict(dict)
    for machine, comparisons in contents.history.comparisons.items():
        graphs = contents.findings.graphs[machine]
        for comparison in (each for each in comparisons if each.cases):
            key = machine, comparison.sitting.versions[0].release
            for before, after in combinations(comparison.measured_sides, 2):
                cases = comparison.cases[before], comparison.cases[after]
                ratio = graphs.alone(comparison, before, after)
                if ratio is not None and {*cases} <= index_of.keys():
                    first, last = (index_of[case] for case in cases)
                    pairs[key][cases] = _row(first, last, ratio)
    return [
        ComparedCases(machine, str(release), list(of_both.values()))
        for (machine, release), of_both in pairs.items()
    ]


def _row(first: int, last: int, ratio: Ratio, before: float | None = None) -> PairRow:
    """Return a pair; its level is of the values compared, unless the value before is given."""
    level = math.sqrt(ratio.ratio) * before if before else math.sqrt(ratio.before * ratio.after)
    return PairRow(
        first,
        last,
        shortened(ratio.ratio, 7),
        *shortened_ends(ratio.interval),
        _SIGNS[ratio.verdict],
        shortened(level),
        int(bool(ratio.clock)),
        int(ratio.needs_second_day),
    )
