"""The contents of the site, worked out once for pages, data files and feeds."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import msgspec
import numpy as np
from packaging.version import Version

from asv_watch.asv.settings import Configuration
from asv_watch.asv.steps import kept_levels
from asv_watch.judge.changes import KIND_OF_UNIT, Change, Findings, Kind, analyse
from asv_watch.judge.segments import Segment
from asv_watch.records.history import Floats, History, Indices, Series
from asv_watch.records.labels import Layout, parameter_values, with_columns
from asv_watch.records.loading import load_history
from asv_watch.records.records import Benchmark, Environment, Machine, Point, Record
from asv_watch.site import names
from asv_watch.site.scripts import shortened
from asv_watch.text import quantities
from asv_watch.versions.git import Ancestry, read_ancestry
from asv_watch.versions.version import Commit, release_order

Shown = dict[str, Any]
"""What a template shows."""

_LEAST_SHARE = 0.1
"""A machine is shown first only if it has this share of the series of the largest machine."""


class Metric(msgspec.Struct, frozen=True):
    """A metric: its values may share an axis."""

    id: str
    label: str
    unit: str
    kind: Kind
    better: Literal["less", "more"]
    scale: tuple[tuple[float, str], ...]
    """Steps in which values are written, the largest first: ``(0.001, "ms")``."""


class Setup(msgspec.Struct, frozen=True):
    """A machine with an environment: values of one setup may be compared over commits."""

    machine: Machine
    environment: Environment
    commits: tuple[int, ...]
    """Indices of the commits measured with it, one at least."""
    counts: dict[str, int]
    """Maps an outcome to its number of cases at the newest commit."""
    record: Record | None
    """Record of the newest run that has one."""

    @property
    def key(self) -> tuple[str, str]:
        """Names of the machine and the environment."""
        return (self.machine.name, self.environment.name)

    @property
    def newest(self) -> int:
        """Index of the newest commit measured with it."""
        return self.commits[-1]


class Stretch(msgspec.Struct, frozen=True, array_like=True):
    """Commits of a series at one level, as a data file has them.

    A series is cut at measured changes and at changes of conditions. Along a stretch the level
    stays, and runs are dots around it: their median lies on the line, because separate runs cannot
    show how two stretches differ.
    """

    first: int
    """Index of its first commit."""
    level: float
    """Relative to the newest level: 1.1 is 10 % above it."""
    scale: float
    """Factor that makes a value of the stretch relative to the newest level; 0 if no value is
    above 0."""


class SeriesSummary(msgspec.Struct, frozen=True):
    """One series with its case, values and changes."""

    index: int
    series: Series
    benchmark: Benchmark
    metric: Metric
    environment: Environment
    row: str
    """The row of a table that it belongs to."""
    group: str
    """Heading of its benchmark in lists."""
    commits: Indices
    """Commit index of each value, oldest first: rows of ``series.columns.valued``."""
    change: Change | None
    """The newest measured change, or else the newest suspicion."""
    measured: tuple[Change, ...]
    """Measured changes of a time or of memory, the newest first."""
    noise: float | None
    """Standard deviation of the logarithm of a value between runs, if known."""
    stretches: tuple[Stretch, ...]
    behind: int
    """Number of commits that its machine and environment measured since its newest value."""

    @property
    def last(self) -> tuple[int, Point] | None:
        """The newest value and its commit index."""
        if not self.has_value:
            return None
        point = self.series.columns.valued.stored[-1].point
        return None if point is None else (int(self.commits[-1]), point)

    @property
    def has_value(self) -> bool:
        """Whether any run of it has a value."""
        return len(self.commits) > 0

    @property
    def labels(self) -> dict[str, str]:
        """Labels of the case."""
        return self.series.case.labels


class Contents(msgspec.Struct, frozen=True):
    """Everything the site shows of a history."""

    history: History
    findings: Findings
    metrics: tuple[Metric, ...]
    setups: tuple[Setup, ...]
    """In the order of the page."""
    series: tuple[SeriesSummary, ...]
    ancestry: Ancestry
    layout: Layout
    parameters: dict[str, list[str]]
    """The values of each parameter, in order."""

    def by_benchmark(self) -> dict[str, list[SeriesSummary]]:
        """Return the series of each benchmark."""
        members: dict[str, list[SeriesSummary]] = defaultdict(list)
        for summary in self.series:
            members[summary.benchmark.name].append(summary)
        return members


def in_order(history: History) -> History:
    """Return the same history with its series in the order of the site.

    Series without a run are left out, as most will never have one. A case that never ran anywhere
    keeps one series, so that it is listed.
    """

    def order(series: Series) -> tuple[str, tuple[str, ...], str, str]:
        return series.case.benchmark, series.case.params, series.machine, series.environment

    shown = {series.case.name: series for series in history.series}
    ran = [series for series in history.series if series.columns]
    for series in ran:
        shown.pop(series.case.name, None)
    return replace(history, series=tuple(sorted([*ran, *shown.values()], key=order)))


def read_contents(configuration: Configuration, commits: Sequence[Commit]) -> Contents:
    """Read the results of a project, and work out what the site shows of them."""
    layout = configuration.declared.layout
    history = in_order(load_history(configuration.results, commits, layout=layout))
    with kept_levels(configuration.work_folder) as levels:
        findings = analyse(history, levels)
    changes = [*findings.changes, *findings.exact_changes]
    if not changes:
        return contents_of(history, findings)
    since = history.commits[min(change.previous for change in changes)].hash
    paths = configuration.measured_paths
    ancestry = read_ancestry(configuration.repository, history.commits, since, paths)
    return contents_of(history, findings, ancestry)


def contents_of(
    history: History, findings: Findings, ancestry: Ancestry | None = None
) -> Contents:
    """Work out the contents of the site from a history.

    The series must be in the order of `in_order`. Without ``ancestry``, the commits between two
    commits are those along the branch.
    """
    metric_of = {series.case.benchmark: _metric(series) for series in history.series}
    layout = with_columns(history.layout, list(history.benchmarks.values()))
    newest_change: dict[int, Change] = {}
    measured_first = sorted(findings.changes, key=lambda change: not change.is_measured)
    for change in (*measured_first, *findings.exact_changes):
        newest_change.setdefault(change.series, change)
    measured: dict[int, list[Change]] = defaultdict(list)
    for change in findings.changes:
        if change.is_measured:
            measured[change.series].append(change)
    setups = _setups(history)
    measured_with = {setup.key: setup.commits for setup in setups}
    series = tuple(
        SeriesSummary(
            index=index,
            series=case_series,
            benchmark=benchmark,
            metric=metric_of[benchmark.name],
            environment=history.environments[case_series.environment],
            row=layout.row(case_series.case),
            group=layout.group(benchmark),
            commits=commits,
            change=newest_change.get(index),
            measured=tuple(measured[index]),
            noise=findings.noise[index],
            stretches=_stretches(
                commits, case_series.columns.valued.values, measured[index], segments
            ),
            behind=len(ran) - bisect_right(ran, commits[-1]) if len(commits) else 0,
        )
        for index, (case_series, segments) in enumerate(
            zip(history.series, findings.segments, strict=True)
        )
        for benchmark in [history.benchmarks[case_series.case.benchmark]]
        for commits in [history.indices(case_series.columns.valued)]
        for ran in [measured_with[setup_key(case_series)]]
    )
    return Contents(
        history=history,
        findings=findings,
        metrics=tuple(sorted(set(metric_of.values()), key=_metric_order)),
        setups=setups,
        series=series,
        ancestry=ancestry or Ancestry(history.commits),
        layout=layout,
        parameters=parameter_values(history.benchmarks.values()),
    )


def setup_key(series: Series) -> tuple[str, str]:
    """Return the names of the machine and the environment of a series."""
    return (series.machine, series.environment)


def order_of_release(environment: Environment) -> Version:
    """Return the sort key of an environment: the release of its first requirement."""
    return release_order(environment.release.version)


def _setups(history: History) -> tuple[Setup, ...]:
    """Return all setups in the order of the page.

    The machine that measured the newest commit comes first; of several such machines the one with
    the most series. Of its environments the one that measured the newest commit comes first, then
    the one with the newest release. Machines that measured few cases come last.
    """
    members: dict[tuple[str, str], list[Series]] = defaultdict(list)
    series_of_machine: Counter[str] = Counter()
    for series in history.series:
        members[setup_key(series)].append(series)
        series_of_machine[series.machine] += bool(series.columns.valued)
    setups = [
        _setup(history, key, setup_series)
        for key, setup_series in sorted(members.items(), key=lambda member: member[0])
        if any(series.columns for series in setup_series)
    ]
    newest_first = sorted(
        setups, key=lambda one: (one.newest, order_of_release(one.environment)), reverse=True
    )
    newest_of = {setup.machine.name: setup.newest for setup in reversed(newest_first)}
    enough = _LEAST_SHARE * max(series_of_machine.values(), default=0)

    def machine_order(setup: Setup) -> tuple[bool, int, int, str]:
        name = setup.machine.name
        count = series_of_machine[name]
        return (count < enough, -newest_of[name], -count, name)

    return tuple(sorted(newest_first, key=machine_order))


def _setup(history: History, key: tuple[str, str], members: Sequence[Series]) -> Setup:
    """Return a setup; at least one of its series must have a run."""
    indices = [history.indices(series.columns) for series in members]
    measured: list[int] = sorted(set().union(*(commits.tolist() for commits in indices)))
    outcomes = Counter(
        series.last.outcome.value
        for series, commits in zip(members, indices, strict=True)
        if len(commits) and commits[-1] == measured[-1]
    )
    records = [commit_records[-1] for commit_records in history.recorded.get(key, {}).values()]
    return Setup(
        machine=history.machines[key[0]],
        environment=history.environments[key[1]],
        commits=tuple(measured),
        counts=dict(sorted(outcomes.items())),
        record=records[-1] if records else None,
    )


def _metric(series: Series) -> Metric:
    label = series.case.labels.get("metric") or series.unit
    is_more = series.higher_is_better
    direction = "-more" if is_more else ""
    name = names.slug(f"{label}-{series.unit}{direction}".replace(" ", "-"))
    return Metric(
        name,
        label,
        series.unit,
        KIND_OF_UNIT.get(series.unit, "exact"),
        "more" if is_more else "less",
        quantities.unit_scale(series.unit),
    )


def _metric_order(metric: Metric) -> tuple[bool, bool, bool, bool, str]:
    """Order metrics: time, peak memory, other times, other memory, the rest by name."""
    unit, label = metric.unit, metric.label
    is_memory = label == "peak memory"
    return (label != "time", not is_memory, unit != "seconds", unit != "bytes", metric.id)


def _stretches(
    commits: Indices, values: Floats, measured: Sequence[Change], segments: Sequence[Segment]
) -> tuple[Stretch, ...]:
    """Cut a series into stretches, oldest first; without a value it has none."""
    if not len(commits):
        return ()
    levels = _levels(commits, measured)
    starts = sorted({*(first for first, _ in levels), *(int(s.commits[0]) for s in segments)})
    bounds = [*np.searchsorted(commits, starts).tolist(), len(values)]
    cut = []
    for first, begin, end in zip(starts, bounds, bounds[1:], strict=False):
        level = next(level for commit, level in reversed(levels) if commit <= first)
        positive = values[begin:end][values[begin:end] > 0]
        scale = level / float(np.median(positive)) if len(positive) else 0.0
        cut.append(Stretch(first, shortened(level), shortened(scale)))
    return tuple(cut)


def _levels(commits: Indices, measured: Sequence[Change]) -> list[tuple[int, float]]:
    newest_first = sorted(
        ((change.commit, change.ratio) for change in measured if change.ratio), reverse=True
    )
    level, levels = 1.0, []
    for commit, ratio in newest_first:
        levels.append((commit, level))
        level /= ratio
    first = min(int(commits[0]), *(commit - 1 for commit, _ in levels), int(commits[-1]))
    return [(first, level), *reversed(levels)]
