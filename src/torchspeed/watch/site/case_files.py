"""The data of the pages of single cases: source, related measurements, samples.

``docs/site-data.md`` describes both kinds of file.
"""

from __future__ import annotations

import ast
import math
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from torchspeed.watch.history.records import Benchmark, Point
from torchspeed.watch.site import names
from torchspeed.watch.site.scripts import script
from torchspeed.watch.site.standing import Standing, Standings

SAMPLED_COMMITS = 60
"""Newest commits of a series whose samples are published."""
SAMPLES = 25
"""Samples of a run that are published at most."""

_REGULAR = re.compile(r"[.()\[\]{}*+?^$|\\]")


def write_case_files(folder: Path, standings: Standings, share: int) -> None:
    """Write ``data/c`` and ``data/n``.

    Args:
        folder: The site.
        standings: The series.
        share: Series of one benchmark in one file of samples.
    """
    for name in ("c", "n"):
        (folder / "data" / name).mkdir(parents=True, exist_ok=True)
    edges: dict[int, set[int]] = {}
    for change in standings.changes:
        edges.setdefault(change.series, set()).update((change.previous, change.commit))
    related = _related(standings.rows)
    by_benchmark: dict[str, list[Standing]] = {}
    for row in standings.rows:
        by_benchmark.setdefault(row.benchmark.name, []).append(row)
    for benchmark, rows in by_benchmark.items():
        slug = names.slug(benchmark)
        data = _source(rows[0].benchmark) | {
            "commands": {
                row.series.case.name: measure_command(row.series.case.name) for row in rows
            },
            "related": {str(row.index): related[row.index] for row in rows},
        }
        (folder / "data" / "c" / f"{slug}.js").write_bytes(script(f"c/{slug}", data))
        for number, first in enumerate(range(0, len(rows), share)):
            name = f"n/{slug}{f'~{number}' if number else ''}"
            runs = [
                {"s": row.index, "runs": _samples(row, edges.get(row.index, set()))}
                for row in rows[first : first + share]
            ]
            content = {"benchmark": benchmark, "series": [one for one in runs if one["runs"]]}
            (folder / "data" / f"{name}.js").write_bytes(script(name, content))


def measure_command(case: str) -> str:
    """The command that measures one case again, to be typed in a checkout."""
    pattern = _REGULAR.sub(r"\\\g<0>", case)
    return f"torchspeed bench --cases {shlex.quote(f'^{pattern}$')}"


def description(benchmark: Benchmark) -> str:
    """The docstring of a benchmark's function, else that of its class; empty without either."""
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


def _related(rows: Sequence[Standing]) -> dict[int, list[int]]:
    """For each series those of the same work and place that measure something else."""
    by_model: dict[str, list[Standing]] = {}
    for row in rows:
        by_model.setdefault(row.model, []).append(row)
    return {
        row.index: [other.index for other in by_model[row.model] if _is_related(row, other)]
        for row in rows
    }


def _is_related(row: Standing, other: Standing) -> bool:
    if row.benchmark is other.benchmark or not other.points:
        return False
    if (row.series.machine, row.series.environment) != (
        other.series.machine,
        other.series.environment,
    ):
        return False
    mine, theirs = row.series.case.labels, other.series.case.labels
    return all(
        mine[key] == theirs[key]
        for key in mine.keys() & theirs.keys()
        if key != "metric" and mine[key] and theirs[key]
    )


def _samples(row: Standing, edges: set[int]) -> list[list[Any]]:
    sampled = [(commit, point) for commit, point in row.points if point.samples and point.value]
    newest = {commit for commit, _ in sampled[-SAMPLED_COMMITS:]}
    return [
        [commit, list(_distances(point)), len(point.samples)]
        for commit, point in sampled
        if commit in newest or commit in edges
    ]


def _distances(point: Point) -> Iterable[int]:
    ordered = sorted(point.samples)
    if len(ordered) > SAMPLES:
        last = len(ordered) - 1
        ordered = [ordered[round(place * last / (SAMPLES - 1))] for place in range(SAMPLES)]
    return (names.distance(sample - point.value, point.value) for sample in ordered)
