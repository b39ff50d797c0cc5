"""The index of the data files: everything but the values."""

from collections.abc import Mapping
from math import log
from typing import Literal

import msgspec

from asv_watch.asv.settings import Project
from asv_watch.comparison import Outcome
from asv_watch.records.labels import parameter_values
from asv_watch.records.records import Machine
from asv_watch.site import names
from asv_watch.site.cases import CaseColumn, CaseEntry, CaseRow
from asv_watch.site.change_data import ChangeData, CommitRange, change_data
from asv_watch.site.contents import Contents, order_of_release
from asv_watch.site.data_files import ComparedCases, case_pairs, series_in_a_file
from asv_watch.site.front_page import Overview
from asv_watch.site.scripts import shortened
from asv_watch.site.series import Metric
from asv_watch.text import quantities

FORMAT = 4

Status = Literal["ok", "stale", "failed", "timed out", "skipped", "never run"]
"""Outcome of the newest run; ``stale`` if others were measured since."""


class EnvironmentData(msgspec.Struct):
    """Python, requirements and variables that results were measured with."""

    id: str
    label: str
    """Everything in which environments differ."""
    short: str
    """A word or two for it."""
    requirements: dict[str, str]
    variables: dict[str, str]


class HistoryEvent(msgspec.Struct):
    """A change of a machine's conditions."""

    c: int
    m: int
    e: int | None
    text: str


class NewestRun(msgspec.Struct):
    """The newest commit that a machine measured in an environment."""

    m: int
    e: int
    c: int
    commits: int
    """Number of commits that it measured."""
    ran: int
    """Cases that ran at the newest commit, and those of them that failed or timed out."""
    failed: int


class ComparedReleases(msgspec.Struct):
    """Releases of a requirement that a machine compared interleaved, oldest first."""

    m: int
    package: str
    versions: tuple[str, ...]


class Group(msgspec.Struct):
    """A heading, and whether its rows stand on the first screen."""

    name: str
    main: bool


class BenchmarkData(msgspec.Struct):
    """A function of a suite."""

    name: str
    slug: str
    metric: int
    parameters: tuple[str, ...]


class NewestValue(msgspec.Struct):
    """The newest value of a series, and its commit."""

    c: int
    v: float
    text: str


class SeriesRow(msgspec.Struct):
    """A case on one machine in one environment."""

    c: int
    """Index of its case, its machine and its environment."""
    m: int
    e: int
    last: NewestValue | None
    reason: str
    """One line; ``text`` is the index of the whole message in ``texts``."""
    text: int | None
    change: int | None
    """Index of its newest change in ``changes``."""
    status: Status
    behind: int
    """Number of commits measured since its newest value."""
    at: int | None
    """Commit of its newest run."""
    segments: list[int]
    """First commits of the segments, oldest first: nothing is compared across them."""
    values: int
    """Number of its values."""
    moved: float
    """How far its level ever was from the newest, as a logarithm."""


class Index(msgspec.Struct, kw_only=True):
    """``data/index.js`` and ``index.json``.

    Missing is ``null``. Dates are seconds since 1970 (UTC). What is called ``c``, ``m``, ``e`` and
    ``s`` is an index into ``commits``, ``machines``, ``environments`` and ``series``. All text is
    raw, not HTML. What is called ``text`` is written as people read it.
    """

    format: int
    generated: int
    project: Project
    share: int
    """Series of one benchmark in one file."""
    commits: list[tuple[str, int, str, tuple[str, ...], int]]
    """Hash, committer date, first line of the message, tags, number of commits before it."""
    machines: list[Machine]
    environments: list[EnvironmentData]
    events: list[HistoryEvent]
    newest_runs: list[NewestRun]
    """The machine and environment to start with first."""
    releases: list[ComparedReleases]
    subject: str
    """The parameter that rows of tables stand for, or ``benchmark``."""
    metrics: tuple[Metric, ...]
    groups: list[Group]
    benchmarks: list[BenchmarkData]
    rows: tuple[CaseRow, ...]
    parameters: dict[str, list[str]]
    """Values of each parameter, in the order of the suites."""
    columns: tuple[CaseColumn, ...]
    cases: tuple[CaseEntry, ...]
    changes: list[ChangeData]
    """Of times and memory, newest commit first; and of exact counts."""
    exact_changes: list[ChangeData]
    ranges: list[CommitRange]
    series: list[SeriesRow]
    texts: list[str]
    overview: Overview
    case_pairs: list[ComparedCases]


def index_data(contents: Contents, overview: Overview, project: Project, generated: int) -> Index:
    """Return everything about a history but the values themselves."""
    history, table = contents.history, contents.cases
    environments = sorted(history.environments.values(), key=order_of_release)
    labels = names.environment_labels(environments)
    short = names.short_labels(environments)
    machine_index = {name: index for index, name in enumerate(sorted(history.machines))}
    environment_index = {name: index for index, name in enumerate(labels)}
    changes, exact_changes, ranges = change_data(contents, project.commit_url)
    series, texts = _series(contents, machine_index, environment_index)
    return Index(
        format=FORMAT,
        generated=generated,
        project=project,
        share=series_in_a_file(contents),
        commits=[
            (commit.hash, commit.date, commit.subject, commit.tags, commit.position)
            for commit in history.commits
        ],
        machines=[history.machines[name] for name in machine_index],
        environments=[
            EnvironmentData(
                names.environment_id(environment),
                labels[environment.name],
                short[environment.name],
                environment.requirements,
                environment.variables,
            )
            for environment in environments
        ],
        events=[
            HistoryEvent(
                history.order[event.commit],
                machine_index[event.machine],
                environment_index.get(event.environment),
                names.event_text(event, labels),
            )
            for event in contents.findings.events
        ],
        newest_runs=[
            NewestRun(
                machine_index[setup.machine.name],
                environment_index[setup.environment.name],
                setup.newest,
                len(setup.commits),
                ran=sum(setup.counts.values()) - setup.counts.get("skipped", 0),
                failed=sum(setup.counts.get(name, 0) for name in ("failed", "timed out")),
            )
            for setup in contents.setups
        ],
        releases=[
            ComparedReleases(machine_index[one.machine], one.requirement, one.releases)
            for one in contents.findings.release_histories
            if one.requirement
        ],
        subject=contents.layout.rows or "benchmark",
        metrics=contents.metrics,
        groups=[
            Group(group, group in table.main_groups)
            for group in dict.fromkeys(row.group for row in table.rows)
        ],
        benchmarks=[
            BenchmarkData(
                name,
                names.slug(name),
                contents.metrics.index(members[0].metric),
                members[0].benchmark.param_names,
            )
            for name, members in contents.by_benchmark().items()
        ],
        rows=table.rows,
        parameters=parameter_values(history.benchmarks.values()),
        columns=table.columns,
        cases=table.cases,
        changes=changes,
        exact_changes=exact_changes,
        ranges=ranges,
        series=series,
        texts=texts,
        overview=overview,
        case_pairs=case_pairs(contents),
    )


def _series(
    contents: Contents, machine_index: Mapping[str, int], environment_index: Mapping[str, int]
) -> tuple[list[SeriesRow], list[str]]:
    """Return all series, and the messages that their lines do not hold whole."""
    texts: dict[str, int] = {}
    newest_change: dict[int, int] = {}
    for index, change in enumerate(contents.findings.changes):  # the newest first
        newest_change.setdefault(change.series, index)
    rows = []
    for row in contents.series:
        run = row.series.last
        has_failed = run.outcome in {Outcome.FAILED, Outcome.TIMED_OUT}
        reason = names.exception_line(run.reason) if has_failed else run.reason
        is_stale = row.behind and run.outcome is Outcome.OK
        last = None
        if row.last:
            commit, newest = row.last
            value = shortened(newest.value) if row.benchmark.type == "time" else newest.value
            last = NewestValue(commit, value, quantities.quantity(value, row.metric.unit))
        rows.append(
            SeriesRow(
                contents.cases.index_of[row.case],
                machine_index[row.machine],
                environment_index[row.environment.name],
                last,
                reason,
                None if reason == run.reason else texts.setdefault(run.reason, len(texts)),
                newest_change.get(row.index),
                "stale" if is_stale else run.outcome.value,
                row.behind,
                int(row.series.indices[-1]) if row.series.runs else None,
                [int(one.indices[0]) for one in contents.findings.segments[row.index]],
                len(row.series.valued.runs),
                shortened(max((abs(log(one.level)) for one in row.stretches), default=0.0)),
            )
        )
    return rows, list(texts)
