"""Where each series stands today: its newest figure, its state, and what moved.

This is all that the pages and the data files say about a history, worked out
once, so that both say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from torchspeed.watch.analysis.changes import Change, State
from torchspeed.watch.analysis.findings import Findings, Level
from torchspeed.watch.analysis.geometric_mean import geometric_mean
from torchspeed.watch.analysis.noise import MachineNoise
from torchspeed.watch.analysis.releases import Releases
from torchspeed.watch.history.history import History
from torchspeed.watch.history.records import (
    Benchmark,
    Environment,
    Machine,
    Outcome,
    Point,
    Problem,
    Record,
    Series,
)
from torchspeed.watch.site import names

_WORD = {outcome: outcome.value for outcome in Outcome}  # `value` itself is slow to reach

SPARK_VALUES = 60
"""How many figures a sparkline shows at most."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """A change around the code as charts and lists name it: a release, a driver, a kernel."""

    commit: int
    """Index of the first commit measured with the new."""
    machine: str
    environment: str
    """Empty where it concerns all environments of the machine."""
    kind: str
    """Name of the fact: ``os``, ``requirement numpy``; ``environment`` for a new one."""
    text: str


@dataclass(frozen=True, slots=True)
class Metric:
    """A kind of figure that may share an axis: name, unit, direction."""

    id: str
    label: str
    unit: str
    higher_is_better: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """One series as it stands at the newest commit that its place measured."""

    index: int
    id: str
    series: Series
    benchmark: Benchmark
    metric: Metric
    environment: Environment
    points: tuple[tuple[int, Point], ...]
    """Every figure with its commit index, oldest first."""
    others: tuple[tuple[int, str, str], ...]
    """Commit index, outcome and reason of every run without a figure, oldest first."""
    status: str
    """``ok``, ``stale``, ``failed``, ``timed out``, ``skipped`` or ``never run``."""
    at: int | None
    """Commit index that the status is from."""
    reason: str
    behind: int
    """Measured commits newer than the newest figure."""
    change: Change | None
    """The last step, if it led to the level of today."""
    levels: tuple[Level, ...]
    noise: float | None
    spark: tuple[float | None, ...]

    @property
    def last(self) -> tuple[int, Point] | None:
        """The newest figure and its commit index."""
        return self.points[-1] if self.points else None

    @property
    def model(self) -> str:
        """The row it belongs to in a matrix."""
        case = self.series.case
        return case.labels.get("model") or case.benchmark.rpartition(".")[0].rpartition(".")[2]

    @property
    def column(self) -> str:
        """The column it belongs to: every other parameter, device and pass first."""
        labels = self.series.case.labels
        first = [labels[key] for key in ("device", "pass") if labels.get(key)]
        rest = [
            names.setting(key, value)
            for key, value in labels.items()
            if key not in {"model", "device", "pass", "metric"}
        ]
        return " · ".join(first + rest)


@dataclass(frozen=True, slots=True)
class GeometricMean:
    """How a group of series moved together since a baseline."""

    metric: Metric
    machine: str
    environment: Environment
    labels: dict[str, str]
    base: int
    commit: int
    ratio: float
    count: int


@dataclass(frozen=True, slots=True)
class Standings:
    """Everything the site shows of a history."""

    history: History
    metrics: tuple[Metric, ...]
    machines: tuple[Machine, ...]
    environments: tuple[Environment, ...]
    benchmarks: tuple[Benchmark, ...]
    rows: tuple[Standing, ...]
    changes: tuple[Change, ...]
    events: tuple[Annotation, ...]
    means: tuple[GeometricMean, ...]
    releases: tuple[Releases, ...] = ()
    machine_noise: tuple[MachineNoise, ...] = ()
    problems: tuple[Problem, ...] = ()
    measured: dict[tuple[str, str], tuple[int, ...]] = field(default_factory=dict)
    """Machine and environment to the commit indices that were measured there."""
    records: dict[tuple[str, str], tuple[int, Record]] = field(default_factory=dict)
    """Machine and environment to the newest commit index whose runs noted where they ran,
    and the last of these notes."""


def standings(history: History, findings: Findings) -> Standings:
    """Work out where every series of a history stands.

    Args:
        history: The series must be in the order of `series_order`.
        findings: One entry per series of the history.
    """
    place = {commit.hash: index for index, commit in enumerate(history.commits)}
    measured = _measured(history.series, place)
    benchmarks = tuple(history.benchmarks[name] for name in sorted(history.benchmarks))
    metric_of = {one.case.benchmark: _metric(one) for one in history.series}
    changes = tuple(c for c in findings.changes if c.state is State.CONFIRMED)
    last_change: dict[int, Change] = {}
    for change in changes:
        last_change.setdefault(change.series, change)
    rows = tuple(
        _standing(
            index,
            series,
            history,
            metric=metric_of[series.case.benchmark],
            place=place,
            measured=measured[series.machine, series.environment],
            change=last_change.get(index),
            levels=findings.levels[index],
            noise=findings.noise[index],
        )
        for index, series in enumerate(history.series)
    )
    return Standings(
        history=history,
        metrics=_in_order(metric_of.values()),
        machines=tuple(history.machines[name] for name in sorted(history.machines)),
        environments=tuple(history.environments[name] for name in sorted(history.environments)),
        benchmarks=benchmarks,
        rows=rows,
        changes=changes,
        events=_annotations(history, findings, place),
        releases=findings.releases,
        machine_noise=findings.machine_noise,
        means=geometric_means(rows, history, measured),
        problems=history.problems,
        measured=measured,
        records={
            where: (place[commit], noted[-1])
            for where, commits in history.recorded.items()
            for commit, noted in [*commits.items()][-1:]
        },
    )


def _annotations(
    history: History, findings: Findings, place: dict[str, int]
) -> tuple[Annotation, ...]:
    labels = names.environment_labels(history.environments.values())
    annotations = []
    for event in findings.events:
        if event.fact == "environment":
            text = f"first measured with {labels[event.environment]}"
        else:
            text = f"{event.fact}: {event.before or 'nothing'} → {event.after or 'nothing'}"
        if event.reason:
            text = f"{text} ({event.reason})"
        annotations.append(
            Annotation(place[event.commit], event.machine, event.environment, event.fact, text)
        )
    return tuple(annotations)


def in_order(history: History) -> History:
    """The same history with its series in the order of the site."""
    return replace(history, series=tuple(sorted(history.series, key=series_order)))


def series_order(series: Series) -> tuple[str, tuple[str, ...], str, str]:
    """The order of series on the site: benchmark, parameters, machine, environment."""
    return (series.case.benchmark, series.case.params, series.machine, series.environment)


def geometric_means(
    rows: Sequence[Standing],
    history: History,
    measured: dict[tuple[str, str], tuple[int, ...]],
) -> tuple[GeometricMean, ...]:
    """Geometric mean of new / base for each metric, place, device and pass.

    The base of a place is the newest tagged commit measured there before its
    newest commit, or the first commit measured where none is tagged.
    """
    groups: dict[tuple[str, str, str, str, str], list[Standing]] = {}
    for row in rows:
        labels = row.series.case.labels
        if "device" not in labels:
            continue
        key = (
            row.metric.id,
            row.series.machine,
            row.series.environment,
            labels["device"],
            labels.get("pass", ""),
        )
        groups.setdefault(key, []).append(row)
    means = []
    for key, members in sorted(groups.items(), key=lambda group: _as_they_run(group[0])):
        _, machine, environment, device, direction = key
        commits = measured[machine, environment]
        if len(commits) < 2:
            continue
        newest = commits[-1]
        tagged = [index for index in commits[:-1] if history.commits[index].tags]
        base = tagged[-1] if tagged else commits[0]
        ratios = []
        for member in members:
            values = {index: point.value for index, point in member.points}
            if values.get(base, 0) > 0 and values.get(newest, 0) > 0:
                ratios.append(values[newest] / values[base])
        if ratios:
            labels = {"device": device}
            if direction:
                labels["pass"] = direction
            mean = geometric_mean(ratios)
            means.append(
                GeometricMean(
                    members[0].metric,
                    machine,
                    members[0].environment,
                    labels,
                    base,
                    newest,
                    mean.value,
                    mean.count,
                )
            )
    return tuple(means)


def _as_they_run(key: tuple[str, ...]) -> tuple[object, ...]:
    *before, direction = key
    return (*before, direction != "forward", direction)


def _measured(
    series: Iterable[Series], place: dict[str, int]
) -> dict[tuple[str, str], tuple[int, ...]]:
    found: dict[tuple[str, str], set[int]] = {}
    for one in series:
        commits = found.setdefault((one.machine, one.environment), set())
        for commit, run in one.runs.items():
            if run.outcome is not Outcome.NEVER_RUN:
                commits.add(place[commit])
    return {key: tuple(sorted(commits)) for key, commits in found.items()}


def _standing(
    index: int,
    series: Series,
    history: History,
    *,
    metric: Metric,
    place: dict[str, int],
    measured: tuple[int, ...],
    change: Change | None,
    levels: tuple[Level, ...],
    noise: float | None,
) -> Standing:
    environment = history.environments[series.environment]
    points: list[tuple[int, Point]] = []
    others: list[tuple[int, str, str]] = []
    status, reason = _WORD[Outcome.NEVER_RUN], ""
    at: int | None = None
    for commit, run in series.runs.items():
        if run.outcome is Outcome.NEVER_RUN:
            continue
        at = place[commit]
        status, reason = _WORD[run.outcome], run.reason
        if run.point is not None:
            points.append((at, run.point))
        else:
            others.append((at, status, reason))
    newest_figure = points[-1][0] if points else -1
    behind = sum(commit > newest_figure for commit in measured) if points else 0
    if status == _WORD[Outcome.OK] and behind:
        status = "stale"
    return Standing(
        index=index,
        id=names.series_id(series, names.environment_id(environment)),
        series=series,
        benchmark=history.benchmarks[series.case.benchmark],
        metric=metric,
        environment=environment,
        points=tuple(points),
        others=tuple(others),
        status=status,
        at=at,
        reason=reason,
        behind=behind,
        change=change,
        levels=levels,
        noise=noise,
        spark=_spark(points, measured),
    )


def _spark(
    points: Sequence[tuple[int, Point]], measured: tuple[int, ...]
) -> tuple[float | None, ...]:
    """The newest figures, one place per measured commit, gaps as ``None``."""
    values = {index: point.value for index, point in points}
    return tuple(values.get(index) for index in measured[-SPARK_VALUES:])


def _metric(series: Series) -> Metric:
    label = series.case.labels.get("metric") or series.unit
    direction = "-more" if series.higher_is_better else ""
    name = names.slug(f"{label}-{series.unit}{direction}".replace(" ", "-"))
    return Metric(name, label, series.unit, series.higher_is_better)


def _in_order(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """Each metric once: the two of every model, other times, other memory, the rest by name."""
    first = ("time", "peak memory")
    units = ("seconds", "bytes")

    def place(metric: Metric) -> tuple[int, int, str]:
        return (
            first.index(metric.label) if metric.label in first else len(first),
            units.index(metric.unit) if metric.unit in units else len(units),
            metric.id,
        )

    return tuple(sorted(set(metrics), key=place))
