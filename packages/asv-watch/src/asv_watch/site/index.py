"""The index of the data files: everything but the values (``docs/answers.md``)."""

from collections.abc import Iterable, Sequence
from math import log
from typing import TypeVar

from asv_watch.comparison import Outcome
from asv_watch.records.records import Environment
from asv_watch.site import names
from asv_watch.site.case_table import HUES, CaseTable, css_classes, main_groups
from asv_watch.site.change_data import change_data
from asv_watch.site.contents import Contents, SeriesSummary, order_of_release
from asv_watch.site.explained_data import differing_operators
from asv_watch.site.scripts import Json, shortened
from asv_watch.text import quantities

_T = TypeVar("_T")

FORMAT = 3
VALUES = 60_000
"""Most values in a file of series, about a megabyte. More are divided over several files, so that
the timeline of one series of a long history does not wait for all the others."""


def index_data(
    contents: Contents,
    table: CaseTable,
    *,
    generated: int,
    project: dict[str, str],
) -> Json:
    """Return everything about a history but the values themselves."""
    history = contents.history
    environments = sorted(history.environments.values(), key=order_of_release)
    labels = names.environment_labels(environments)
    machine_index = indices_of(sorted(history.machines))
    environment_index = indices_of(labels)
    index: Json = {
        "format": FORMAT,
        "generated": generated,
        "project": project,
        "share": series_in_a_file(contents),
        "commits": [
            [commit.hash, commit.date, commit.subject, commit.tags, commit.position]
            for commit in history.commits
        ],
        "machines": [history.machines[name] for name in machine_index],
        "environments": _environments(environments),
        "events": [
            {
                "c": history.order[event.commit],
                "m": machine_index[event.machine],
                "e": environment_index.get(event.environment),
                "text": names.event_text(event, labels),
            }
            for event in contents.findings.events
        ],
        "newest_runs": [
            {
                "m": machine_index[setup.machine.name],
                "e": environment_index[setup.environment.name],
                "c": setup.newest,
                "commits": len(setup.commits),
                "ran": sum(setup.counts.values()) - setup.counts.get("skipped", 0),
                "failed": sum(setup.counts.get(name, 0) for name in ("failed", "timed out")),
            }
            for setup in contents.setups
        ],
        "releases": [
            {
                "m": machine_index[history.machine],
                "package": history.requirement,
                "versions": history.releases,
            }
            for history in contents.findings.release_histories
            if history.requirement
        ],
    }
    return (
        index
        | _cases(contents, table)
        | change_data(contents, project)
        | _series(contents, table, machine_index, environment_index)
    )


def _environments(environments: Sequence[Environment]) -> list[Json]:
    labels, short = names.environment_labels(environments), names.short_labels(environments)
    return [
        {
            "id": names.environment_id(environment),
            "label": labels[environment.name],
            "short": short[environment.name],
            "requirements": environment.requirements,
            "variables": environment.variables,
        }
        for environment in environments
    ]


def _cases(contents: Contents, table: CaseTable) -> Json:
    """Return the lists that name cases: metrics, benchmarks, groups, rows, columns."""
    layout = contents.layout
    shown = {row.benchmark.name: row.benchmark for row in contents.series}
    benchmarks = [shown[name] for name in sorted(shown)]
    index_of_metric = indices_of(contents.metrics)
    metric_of = {row.benchmark.name: index_of_metric[row.metric] for row in contents.series}
    index_of_benchmark = indices_of(benchmark.name for benchmark in benchmarks)
    by_group = sorted(contents.series, key=lambda row: layout.group_order(row.benchmark))
    index_of_row = indices_of(dict.fromkeys(row.row for row in by_group if row.has_value))
    defaults = {name: values[""] for name, values in layout.labels.items() if "" in values}
    main = main_groups(contents)
    groups = dict.fromkeys(row.group for row in table.rows)
    operators = differing_operators(contents)
    return {
        "layout": {"subject": layout.rows or "benchmark", "columns": layout.columns},
        "metrics": [
            {
                "id": metric.id,
                "label": metric.label,
                "unit": metric.unit,
                "kind": metric.kind,
                "better": "more" if metric.higher_is_better else "less",
                "scale": quantities.unit_scale(metric.unit),
            }
            for metric in contents.metrics
        ],
        "groups": [{"name": group, "main": group in main} for group in groups],
        "benchmarks": [
            {
                "name": benchmark.name,
                "slug": names.slug(benchmark.name),
                "metric": metric_of.get(benchmark.name),
                "parameters": benchmark.param_names,
            }
            for benchmark in benchmarks
        ],
        "rows": [
            {
                "name": row.name,
                "details": row.details,
                "group": row.group,
                "hue": index_of_row.get(row.name, 0) % HUES,
            }
            for row in table.rows
        ],
        "parameters": contents.parameters,
        "columns": [
            {
                "name": " · ".join(filter(None, column)),
                "values": column,
                "look": css_classes(column, table.columns, contents),
            }
            for column in table.columns
        ],
        "cases": [
            {
                "key": case.name,
                "b": index_of_benchmark[case.summary.benchmark.name],
                "row": case.row,
                "column": case.column,
                "title": case.title,
                "words": " ".join([*table.words(case, layout), *operators.get(case.name, ())]),
                "labels": {
                    name: value
                    for name, value in (
                        (defaults if layout.rows in case.summary.labels else {})
                        | case.summary.labels
                    ).items()
                    if name != "metric" and value
                },
            }
            for case in table.cases
        ],
    }


def indices_of(values: Iterable[_T]) -> dict[_T, int]:
    """Map each of some values to its index."""
    return {value: index for index, value in enumerate(values)}


def series_in_a_file(contents: Contents) -> int:
    """Return how many series of a benchmark one file holds."""
    return max(1, VALUES // max(1, len(contents.history.commits)))


def _series(
    contents: Contents,
    table: CaseTable,
    machine_index: dict[str, int],
    environment_index: dict[str, int],
) -> Json:
    newest = [row.series.last for row in contents.series]
    failed = {Outcome.FAILED, Outcome.TIMED_OUT}
    reasons = [
        names.exception_line(run.reason) if run.outcome in failed else run.reason for run in newest
    ]
    texts = sorted(
        {run.reason for run, reason in zip(newest, reasons, strict=True) if run.reason != reason}
    )
    index_of_text = indices_of(texts)
    index_of_change = {id(change): index for index, change in enumerate(contents.findings.changes)}
    rows = [
        {
            "c": table.index_of[row.series.case.name],
            "m": machine_index[row.series.machine],
            "e": environment_index[row.environment.name],
            "last": _last(row),
            "reason": reason,
            "text": index_of_text.get(run.reason),
            "change": None if row.change is None else index_of_change.get(id(row.change)),
        }
        | _course(contents, row)
        for row, run, reason in zip(contents.series, newest, reasons, strict=True)
    ]
    return {"series": rows, "texts": texts}


def _course(contents: Contents, row: SeriesSummary) -> Json:
    last, commits = row.series.last, contents.history.indices(row.series.columns)
    return {
        "status": "stale" if row.behind and last.outcome is Outcome.OK else last.outcome.value,
        "behind": row.behind,
        "at": int(commits[-1]) if len(commits) else None,
        "segments": _segment_starts(contents, row),
        "values": len(row.commits),
        "moved": shortened(max((abs(log(one.level)) for one in row.stretches), default=0.0)),
    }


def _segment_starts(contents: Contents, row: SeriesSummary) -> list[int]:
    """Return the first commit of each segment: nothing is compared across them."""
    return [int(segment.commits[0]) for segment in contents.findings.segments[row.index]]


def _last(summary: SeriesSummary) -> Json | None:
    if summary.last is None:
        return None
    commit, point = summary.last
    value = shortened(point.value) if point.interval else point.value
    text = quantities.quantity(value, summary.metric.unit)
    return {"c": commit, "v": value, "text": text}
