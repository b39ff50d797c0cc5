"""The data files that the script reads, as ``docs/site-data.md`` lays them down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from torchspeed.watch.analysis.change_points import values_to_confirm
from torchspeed.watch.analysis.changes import Change
from torchspeed.watch.analysis.rule import MINIMUM_EFFECT, NOISE_FACTOR
from torchspeed.watch.history.records import Point
from torchspeed.watch.site import names
from torchspeed.watch.site.failures import exception_line
from torchspeed.watch.site.latest import newest_runs
from torchspeed.watch.site.matrix import family, family_order
from torchspeed.watch.site.scripts import json_bytes, script
from torchspeed.watch.site.standing import Standing, Standings

FORMAT = 1
BLOCK = 32
"""Commits in a block of revisions: Changes loads two of them."""

FIGURES = 60_000
"""Figures in a file of series, about a megabyte: more are told over several files, so that
the timeline of one series of a long history does not wait for all the others."""

RULES = {
    "min_effect": MINIMUM_EFFECT,
    "noise_factor": NOISE_FACTOR,
    "confirmed": values_to_confirm(),
    "news": 30,
}
"""What the script decides with, as `torchspeed.watch.analysis.rule` does: a difference is at
least `min_effect` (relative) and beyond `noise_factor` standard deviations of the ratio of two
runs. A series shows no step before it has `confirmed` figures. A step is coloured while less
than `news` commits are newer."""

Row = dict[str, Any]


def write_data_files(folder: Path, standings: Standings, index: Row) -> None:
    """Write the index, a file per benchmark and a file per block of revisions."""
    (folder / "data" / "s").mkdir(parents=True, exist_ok=True)
    (folder / "data" / "r").mkdir(parents=True, exist_ok=True)
    (folder / "data" / "index.js").write_bytes(script("index", index))
    (folder / "index.json").write_bytes(json_bytes(index) + b"\n")
    columns = [_columns(row) for row in standings.rows]
    by_benchmark: dict[str, list[Standing]] = {}
    for row in standings.rows:
        by_benchmark.setdefault(row.benchmark.name, []).append(row)
    share = _series_a_file(standings)
    for benchmark, rows in by_benchmark.items():
        for number, first in enumerate(range(0, len(rows), share)):
            name = f"s/{names.slug(benchmark)}{f'~{number}' if number else ''}"
            members = rows[first : first + share]
            data = {
                "benchmark": benchmark,
                "series": [_history_of(row, columns[row.index]) for row in members],
            }
            (folder / "data" / f"{name}.js").write_bytes(script(name, data))
    for number, block in enumerate(_blocks(columns, len(standings.history.commits))):
        name = f"r/{number}"
        revisions: Row = {"first": number * BLOCK, "series": block}
        (folder / "data" / f"{name}.js").write_bytes(script(name, revisions))


def _series_a_file(standings: Standings) -> int:
    return max(1, FIGURES // max(1, len(standings.history.commits)))


def index_data(
    standings: Standings,
    *,
    generated: int,
    project: dict[str, str],
    published: Sequence[Row],
    figures: Sequence[Row],
) -> Row:
    """The index: everything about a history but the figures themselves."""
    metric = {one: place for place, one in enumerate(standings.metrics)}
    machine = {one.name: place for place, one in enumerate(standings.machines)}
    environment = {one.name: place for place, one in enumerate(standings.environments)}
    environment_label = names.environment_labels(standings.environments)
    benchmark = {one.name: place for place, one in enumerate(standings.benchmarks)}
    metric_of = {row.benchmark.name: metric[row.metric] for row in standings.rows}
    reasons = {row.index: _reason(row) for row in standings.rows}
    texts = sorted({row.reason for row in standings.rows if row.reason != reasons[row.index]})
    place_of_text = {text: place for place, text in enumerate(texts)}
    return {
        "format": FORMAT,
        "generated": generated,
        "project": project,
        "block": BLOCK,
        "share": _series_a_file(standings),
        "baseline": baseline(standings),
        "rules": RULES,
        "commits": [
            [commit.hash, commit.date, commit.subject, list(commit.tags), commit.position]
            for commit in standings.history.commits
        ],
        "machines": [{"name": one.name, "facts": one.facts} for one in standings.machines],
        "environments": [
            {
                "id": names.environment_id(one),
                "name": one.name,
                "label": environment_label[one.name],
                "torch": one.torch,
                "python": one.python,
                "requirements": one.requirements,
                "variables": one.variables,
            }
            for one in standings.environments
        ],
        "metrics": [
            {
                "id": one.id,
                "label": one.label,
                "unit": one.unit,
                "higher_is_better": one.higher_is_better,
            }
            for one in standings.metrics
        ],
        "groups": list(dict.fromkeys(map(family, sorted(standings.benchmarks, key=family_order)))),
        "benchmarks": [
            {
                "name": one.name,
                "slug": names.slug(one.name),
                "metric": metric_of.get(one.name),
                "group": family(one),
                "param_names": list(one.param_names),
            }
            for one in standings.benchmarks
        ],
        "series": [
            {
                "id": row.id,
                "b": benchmark[row.benchmark.name],
                "m": machine[row.series.machine],
                "e": environment[row.series.environment],
                "labels": row.series.case.labels,
                "last": _last(row),
                "status": row.status,
                "behind": row.behind,
                "reason": reasons[row.index],
                "text": place_of_text.get(row.reason),
                "at": row.at,
                "change": _change(row.change) if row.change else None,
                "noise": None if row.noise is None else shortened(row.noise, 3),
                "spark": [None if one is None else shortened(one, 4) for one in row.spark],
            }
            for row in standings.rows
        ],
        "changes": [
            {
                "id": change_id(standings, change),
                "p": change.previous,
                "s": change.series,
                "cause": change.cause,
                "runs": change.runs,
                "multiple": None if change.multiple is None else shortened(change.multiple, 3),
                **_change(change),
            }
            for change in standings.changes
        ],
        "events": [
            {
                "c": one.commit,
                "m": machine[one.machine],
                "e": environment.get(one.environment),
                "kind": one.kind,
                "text": one.text,
            }
            for one in standings.events
        ],
        "geomeans": [
            {
                "metric": metric[one.metric],
                "m": machine[one.machine],
                "e": environment[one.environment.name],
                "labels": one.labels,
                "base": one.base,
                "c": one.commit,
                "ratio": shortened(one.ratio),
                "n": one.count,
            }
            for one in standings.means
        ],
        "records": [
            {
                "m": machine[of_machine],
                "e": environment[of_environment],
                "c": commit,
                "at": record.at,
                "machine": record.machine,
                "environment": record.environment,
                "before": record.before,
                "after": record.after,
            }
            for (of_machine, of_environment), (commit, record) in sorted(
                standings.records.items(), key=lambda item: item[0]
            )
        ],
        "texts": texts,
        "newest_runs": [
            {
                "m": machine[one.machine],
                "e": environment[one.environment],
                "c": one.commit,
                "at": one.at,
                "counts": one.counts,
            }
            for one in newest_runs(standings)
        ],
        "published": list(published),
        "problems": [{"path": one.path, "message": one.message} for one in standings.problems],
        "figures": list(figures),
    }


def _reason(row: Standing) -> str:
    """One line: of a failure that of its exception."""
    return exception_line(row.reason) if row.status in {"failed", "timed out"} else row.reason


def baseline(standings: Standings) -> int | None:
    """Commit index that things are compared with unless a person says otherwise.

    The newest tagged commit that was measured before the newest one, else the
    first that was measured.
    """
    measured = sorted({index for one in standings.measured.values() for index in one})
    tagged = [index for index in measured[:-1] if standings.history.commits[index].tags]
    return tagged[-1] if tagged else next(iter(measured), None)


def change_id(standings: Standings, change: Change) -> str:
    """Stable name of a change: its series and the commit it appeared at."""
    row = standings.rows[change.series]
    return names.digest(f"{row.id}@{standings.history.commits[change.commit].hash}", 16)


def shortened(value: float, significant: int = 5) -> float:
    """A figure to so many significant digits: what a median's spread is worth."""
    return float(f"{value:.{significant}g}")


def _change(change: Change) -> Row:
    return {
        "c": change.commit,
        "before": shortened(change.before),
        "after": shortened(change.after),
        "ratio": None if change.ratio is None else shortened(change.ratio),
        "verdict": change.verdict,
    }


def _last(row: Standing) -> Row | None:
    if row.last is None:
        return None
    commit, point = row.last
    low, high = point.interval or (None, None)
    return {
        "c": commit,
        "v": _value(point),
        "lo": None if low is None else shortened(low),
        "hi": None if high is None else shortened(high),
    }


def _value(point: Point) -> float:
    return point.value if point.interval is None else shortened(point.value)


_DISTANCES = ("lo", "hi", "q1", "q3")


def _columns(row: Standing) -> dict[str, dict[int, float]]:
    """Each kind of number of a series by commit index, where it has one."""
    columns: dict[str, dict[int, float]] = {key: {} for key in ("v", *_DISTANCES)}
    for commit, point in row.points:
        value = point.value
        columns["v"][commit] = _value(point)
        if value == 0:
            continue
        for (low_key, high_key), pair in (
            (("lo", "hi"), point.interval),
            (("q1", "q3"), point.quartiles),
        ):
            if pair is not None:
                columns[low_key][commit] = names.distance(value - pair[0], value)
                columns[high_key][commit] = names.distance(pair[1] - value, value)
    return columns


def _history_of(row: Standing, columns: dict[str, dict[int, float]]) -> Row:
    data: Row = {"s": row.index, "from": 0, "v": []}
    values = columns["v"]
    if values:
        first, last = min(values), max(values)
        data["from"] = first
        for key, column in columns.items():
            if column:
                data[key] = [column.get(commit) for commit in range(first, last + 1)]
    if row.others:
        reasons = sorted({reason for _, _, reason in row.others})
        place = {reason: index for index, reason in enumerate(reasons)}
        data["reasons"] = reasons
        data["other"] = [
            [commit, outcome, place[reason]] for commit, outcome, reason in row.others
        ]
    if row.levels:
        data["steps"] = [[one.first, one.last, shortened(one.value)] for one in row.levels]
    return data


def _blocks(
    columns: Sequence[dict[str, dict[int, float]]], commits: int
) -> Iterator[list[Row | None]]:
    for first in range(0, commits, BLOCK):
        span = range(first, min(first + BLOCK, commits))
        block: list[Row | None] = []
        for column in columns:
            if not any(commit in column["v"] for commit in span):
                block.append(None)
                continue
            block.append(
                {
                    key: [column[key].get(commit) for commit in span]
                    for key in ("v", "lo", "hi")
                    if column[key]
                }
            )
        yield block
