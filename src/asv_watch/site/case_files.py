"""The data of the pages of single cases: source, related measurements, samples.

``docs/site-data.md`` describes both kinds of file.
"""

from __future__ import annotations

import ast
import math
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from asv_watch.records.records import Benchmark, Point
from asv_watch.site import names
from asv_watch.site.contents import Contents, SeriesSummary, setup_key
from asv_watch.site.data_files import series_files
from asv_watch.site.index import shortened
from asv_watch.site.scripts import write_script
from asv_watch.statistics.ratio import verdict

SAMPLED_COMMITS = 60
"""Newest commits of a series whose samples are published."""
SAMPLES = 25
"""Samples of a run that are published at most."""

_REGULAR = re.compile(r"[.()\[\]{}*+?^$|\\]")


def write_case_files(folder: Path, contents: Contents) -> None:
    """Write ``data/c`` and ``data/n`` into the folder of a site."""
    by_row: dict[tuple[str, str], list[SeriesSummary]] = defaultdict(list)
    for row in contents.series:
        by_row[row.owner, row.model].append(row)
    for benchmark, members in contents.by_benchmark().items():
        cases = dict.fromkeys(row.series.case.name for row in members)
        data = _source(members[0].benchmark) | {
            "commands": {case: measure_command(case) for case in cases},
            "releases": {case: steps for case in cases if (steps := _releases(contents, case))},
            "related": {
                str(row.index): [
                    other.index
                    for other in by_row[row.owner, row.model]
                    if _is_related(row, other)
                ]
                for row in members
            },
        }
        write_script(folder, f"c/{names.slug(benchmark)}", data)
    edges: dict[int, set[int]] = defaultdict(set)
    for change in contents.changes:
        edges[change.series].update((change.previous, change.commit))
    for name, benchmark, of_file in series_files("n", contents):
        series = [
            {"s": row.index, "runs": runs}
            for row in of_file
            if (runs := _samples(row, edges[row.index]))
        ]
        write_script(folder, name, {"benchmark": benchmark, "series": series})


def _releases(contents: Contents, case: str) -> list[dict[str, Any]]:
    """Interleaved comparisons of a case between releases, the newest release first."""
    return [
        {
            "machine": history.machine,
            "before": step.before,
            "after": step.after,
            "commit": step.commits[case],
            "ratio": shortened(ratio.ratio, 7),
            "interval": [shortened(end, 7) for end in ratio.interval],
            "verdict": verdict(ratio).value,
            "before_s": shortened(ratio.before_s),
            "after_s": shortened(ratio.after_s),
        }
        for history in contents.findings.release_histories
        for step in (*history.steps, *history.with_newest)
        if (ratio := step.ratios.get(case))
    ]


def measure_command(case: str) -> str:
    """Return the command that measures one case again, to be typed in a checkout."""
    pattern = _REGULAR.sub(r"\\\g<0>", case)
    return f"asv-watch bench --cases {shlex.quote(f'^{pattern}$')}"


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


def _source(benchmark: Benchmark) -> dict[str, Any]:
    return {
        "benchmark": benchmark.name,
        "description": description(benchmark),
        "code": benchmark.code,
        "type": benchmark.type,
        "version": benchmark.version,
        "timeout": None if math.isnan(benchmark.timeout) else benchmark.timeout,
    }


def _is_related(row: SeriesSummary, other: SeriesSummary) -> bool:
    """Tell whether another series measures something else of the same work in the same place."""
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


def _samples(row: SeriesSummary, edges: set[int]) -> list[list[Any]]:
    valued = row.series.columns.valued
    is_sampled = (valued.rows["samples"] > 0) & (valued.values != 0)
    sampled, commits = valued.where(is_sampled), row.commits[is_sampled]
    newest = np.arange(len(commits)) >= len(commits) - SAMPLED_COMMITS
    chosen = np.flatnonzero(newest | np.isin(commits, list(edges))).tolist()
    return [
        [int(commits[place]), list(_distances(point)), len(point.samples)]
        for place in chosen
        if (point := sampled.run(place).point)
    ]


def _distances(point: Point) -> Iterable[int]:
    ordered = sorted(point.samples)
    if len(ordered) > SAMPLES:
        last = len(ordered) - 1
        ordered = [ordered[round(place * last / (SAMPLES - 1))] for place in range(SAMPLES)]
    return (names.distance(sample - point.value, point.value) for sample in ordered)
