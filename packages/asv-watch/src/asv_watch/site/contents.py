"""The contents of the site, worked out once for pages, data files and feeds."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import msgspec
from packaging.version import Version

from asv_watch.asv.settings import Configuration
from asv_watch.judge.changes import Change, Findings, analyse
from asv_watch.records.history import History, Series, load_history
from asv_watch.records.labels import Layout, parameter_values, with_columns
from asv_watch.records.records import Environment, Machine
from asv_watch.site.cases import CaseTable, case_table
from asv_watch.site.series import Metric, SeriesSummary, metric_of, stretches_of
from asv_watch.versions.git import Ancestry, read_ancestry
from asv_watch.versions.version import Commit, release_order

Shown = dict[str, Any]
"""What a template shows."""

_LEAST_SHARE = 0.1
"""A machine is shown first only if it has this share of the series of the largest machine."""


class Setup(msgspec.Struct, frozen=True):
    """A machine with an environment: values of one setup may be compared over commits."""

    machine: Machine
    environment: Environment
    commits: tuple[int, ...]
    """Indices of the commits measured with it, one at least."""
    counts: dict[str, int]
    """Maps an outcome to its number of cases at the newest commit."""

    @property
    def key(self) -> tuple[str, str]:
        """Names of the machine and the environment."""
        return (self.machine.name, self.environment.name)

    @property
    def newest(self) -> int:
        """Index of the newest commit measured with it."""
        return self.commits[-1]


class Contents(msgspec.Struct, frozen=True):
    """Everything the site shows of a history."""

    history: History
    findings: Findings
    metrics: tuple[Metric, ...]
    setups: tuple[Setup, ...]
    """In the order of the page."""
    series: tuple[SeriesSummary, ...]
    cases: CaseTable
    ancestry: Ancestry
    layout: Layout

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
    ran = [series for series in history.series if series.runs]
    for series in ran:
        shown.pop(series.case.name, None)
    return replace(history, series=tuple(sorted([*ran, *shown.values()], key=order)))


def read_contents(configuration: Configuration, commits: Sequence[Commit]) -> Contents:
    """Read the results of a project, and work out what the site shows of them."""
    layout = configuration.declared.layout
    history = in_order(load_history(configuration.results, commits, layout=layout))
    findings = analyse(history)
    ancestry = None
    if changes := [*findings.changes, *findings.exact_changes]:
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
    metrics = {series.case.benchmark: metric_of(series) for series in history.series}
    layout = with_columns(history.layout, list(history.benchmarks.values()))
    parameters = parameter_values(history.benchmarks.values())
    measured: dict[int, list[Change]] = defaultdict(list)
    for change in findings.changes:
        if change.compared is not None:
            measured[change.series].append(change)
    setups = _setups(history)
    measured_with = {setup.key: setup.commits for setup in setups}
    summaries = []
    for index, series in enumerate(history.series):
        benchmark = history.benchmarks[series.case.benchmark]
        commits = series.valued.indices
        ran = measured_with[series.setup]
        summary = SeriesSummary(
            index=index,
            series=series,
            benchmark=benchmark,
            metric=metrics[benchmark.name],
            environment=history.environments[series.environment],
            row=layout.row(series.case),
            group=layout.group(benchmark),
            measured=tuple(measured[index]),
            stretches=stretches_of(series, measured[index], findings.segments[index]),
            behind=len(ran) - bisect_right(ran, commits[-1]) if len(commits) else 0,
        )
        summaries.append(summary)
    explanations = chain(*history.explanations.values())
    compared = set(chain(*(graphs.commits for graphs in findings.graphs.values())))
    return Contents(
        history=history,
        findings=findings,
        metrics=tuple(sorted(set(metrics.values()), key=_metric_order)),
        setups=setups,
        series=tuple(summaries),
        cases=case_table(summaries, layout, parameters, explanations, compared),
        ancestry=ancestry or Ancestry(history.commits),
        layout=layout,
    )


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
        members[series.setup].append(series)
        series_of_machine[series.machine] += bool(series.valued.runs)
    setups = [
        _setup(history, key, setup_series)
        for key, setup_series in sorted(members.items())
        if any(series.runs for series in setup_series)
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
    measured: list[int] = sorted(set().union(*(series.indices.tolist() for series in members)))
    outcomes = Counter(
        series.last.outcome.value
        for series in members
        if series.runs and series.indices[-1] == measured[-1]
    )
    return Setup(
        machine=history.machines[key[0]],
        environment=history.environments[key[1]],
        commits=tuple(measured),
        counts=dict(sorted(outcomes.items())),
    )


def _metric_order(metric: Metric) -> tuple[bool, bool, bool, bool, str]:
    """Order metrics: time, peak memory, other times, other memory, the rest by name."""
    unit, label = metric.unit, metric.label
    is_memory = label == "peak memory"
    return (label != "time", not is_memory, unit != "seconds", unit != "bytes", metric.id)
