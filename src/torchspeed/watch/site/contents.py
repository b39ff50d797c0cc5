"""Everything that the site shows of a history, worked out once for pages, data files and feeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from torchspeed.watch.analysis.changes import Change, State
from torchspeed.watch.analysis.findings import Findings, Level
from torchspeed.watch.analysis.geometric_mean import geometric_mean
from torchspeed.watch.analysis.releases import release_order
from torchspeed.watch.history.ancestry import Ancestry
from torchspeed.watch.history.history import History
from torchspeed.watch.history.records import (
    Benchmark,
    Environment,
    Machine,
    Outcome,
    Point,
    Record,
    Series,
)
from torchspeed.watch.site import names

_WORD = {outcome: outcome.value for outcome in Outcome}  # `value` itself is slow to reach

SPARK_VALUES = 60
"""Values that a sparkline shows at most."""


@dataclass(frozen=True, slots=True)
class Metric:
    """What is measured: values of one metric may share an axis."""

    id: str
    label: str
    unit: str
    higher_is_better: bool


@dataclass(frozen=True, slots=True)
class Setup:
    """A machine with an environment: values of one setup may be compared over commits."""

    machine: Machine
    environment: Environment
    commits: tuple[int, ...]
    """Indices of the commits measured with it, one at least."""
    counts: dict[str, int]
    """Outcome to the number of cases that ended so at its newest commit."""
    at: int | None
    """When the last case of its newest commit was measured, seconds since the epoch, if known."""
    record: tuple[int, Record] | None
    """The newest commit whose runs recorded where they were measured, and the last record."""

    @property
    def newest(self) -> int:
        """Index of the newest commit measured with it."""
        return self.commits[-1]


@dataclass(frozen=True, slots=True)
class SeriesSummary:
    """One series and how it is at the newest commit of its setup."""

    index: int
    id: str
    series: Series
    benchmark: Benchmark
    metric: Metric
    environment: Environment
    points: tuple[tuple[int, Point], ...]
    """Every value with its commit index, oldest first."""
    others: tuple[tuple[int, str, str], ...]
    """Commit index, outcome and reason of every run without a value, oldest first."""
    status: str
    """``ok``, ``stale``, ``failed``, ``timed out``, ``skipped`` or ``never run``."""
    at: int | None
    """Commit index that the status is from."""
    reason: str
    behind: int
    """Measured commits newer than the newest value."""
    change: Change | None
    """The newest change that is not refuted."""
    levels: tuple[Level, ...]
    comparable_from: int
    """Index of the first commit that was measured under the same conditions as the newest."""
    noise: float | None
    """Standard deviation of the logarithm of a value between runs, where it is known."""
    spark: tuple[float | None, ...]
    """The newest values, one place for each commit of the setup, gaps as ``None``."""

    @property
    def last(self) -> tuple[int, Point] | None:
        """The newest value and its commit index."""
        return self.points[-1] if self.points else None

    @property
    def labels(self) -> dict[str, str]:
        """Labels of the case."""
        return self.series.case.labels

    @property
    def model(self) -> str:
        """The row it belongs to in a matrix."""
        case = self.series.case
        return case.labels.get("model") or case.benchmark.rpartition(".")[0].rpartition(".")[2]

    @property
    def column(self) -> str:
        """The column it belongs to: every other parameter, device and pass first."""
        first = [self.labels[key] for key in ("device", "pass") if self.labels.get(key)]
        return " · ".join([*first, *names.settings(self.labels)])


@dataclass(frozen=True, slots=True)
class MeanRatio:
    """The geometric mean of the ratios, newest over baseline, of a group of series."""

    metric: Metric
    setup: Setup
    labels: dict[str, str]
    base: int
    commit: int
    ratio: float
    count: int


@dataclass(frozen=True, slots=True)
class Annotation:
    """An event as charts and lists name it."""

    commit: int
    """Index of the first commit measured with the new."""
    machine: str
    environment: str
    """Empty where it concerns all environments of the machine."""
    kind: str
    """Name of the fact: ``os``, ``requirement numpy``; ``environment`` for a new one."""
    text: str


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything the site shows of a history."""

    history: History
    findings: Findings
    metrics: tuple[Metric, ...]
    machines: tuple[Machine, ...]
    environments: tuple[Environment, ...]
    benchmarks: tuple[Benchmark, ...]
    setups: tuple[Setup, ...]
    """The one to show first at the front."""
    series: tuple[SeriesSummary, ...]
    annotations: tuple[Annotation, ...]
    means: tuple[MeanRatio, ...]
    ancestry: Ancestry = field(default_factory=lambda: Ancestry(()))

    @property
    def changes(self) -> tuple[Change, ...]:
        """Changes of all series and states, newest commit first."""
        return self.findings.changes

    def of_setup(self, setup: Setup) -> list[SeriesSummary]:
        """The series of a setup."""
        return [
            summary
            for summary in self.series
            if summary.series.machine == setup.machine.name
            and summary.environment.name == setup.environment.name
        ]


def in_order(history: History) -> History:
    """The same history with its series in the order of the site."""
    return replace(history, series=tuple(sorted(history.series, key=series_order)))


def series_order(series: Series) -> tuple[str, tuple[str, ...], str, str]:
    """The order of series on the site: benchmark, parameters, machine, environment."""
    return (series.case.benchmark, series.case.params, series.machine, series.environment)


def contents_of(
    history: History, findings: Findings, ancestry: Ancestry | None = None
) -> Contents:
    """Work out what to show of a history.

    Args:
        history: The series must be in the order of `series_order`.
        findings: What the analysis says about it.
        ancestry: What lies between its commits; by default those along the branch alone.
    """
    place = {commit.hash: index for index, commit in enumerate(history.commits)}
    measured = _measured(history.series, place)
    metric_of = {series.case.benchmark: _metric(series) for series in history.series}
    newest_change: dict[int, Change] = {}
    for change in findings.changes:
        if change.state is not State.REFUTED:
            newest_change.setdefault(change.series, change)
    series = tuple(
        _summary(
            index,
            one,
            history,
            findings,
            metric=metric_of[one.case.benchmark],
            place=place,
            measured=measured[one.machine, one.environment],
            change=newest_change.get(index),
        )
        for index, one in enumerate(history.series)
    )
    setups = _setups(history, series, measured, place)
    return Contents(
        history=history,
        findings=findings,
        metrics=_in_order(metric_of.values()),
        machines=tuple(history.machines[name] for name in sorted(history.machines)),
        environments=tuple(history.environments[name] for name in sorted(history.environments)),
        benchmarks=tuple(history.benchmarks[name] for name in sorted(history.benchmarks)),
        setups=setups,
        series=series,
        annotations=_annotations(history, findings, place),
        means=mean_ratios(series, setups, history),
        ancestry=ancestry or Ancestry(history.commits),
    )


def mean_ratios(
    series: Iterable[SeriesSummary], setups: Iterable[Setup], history: History
) -> tuple[MeanRatio, ...]:
    """Geometric mean of newest / baseline for each metric, setup, device and pass.

    The baseline of a setup is the newest tagged commit measured with it before its newest
    commit, or the first commit measured where none is tagged. A series that was measured
    under other conditions at the baseline does not count.
    """
    of_setup = {(one.machine.name, one.environment.name): one for one in setups}
    groups: dict[tuple[str, str, str, str, bool, str], list[SeriesSummary]] = {}
    for summary in series:
        if "device" in summary.labels:
            direction = summary.labels.get("pass", "")
            key = (
                summary.metric.id,
                summary.series.machine,
                summary.series.environment,
                summary.labels["device"],
                direction != "forward",
                direction,
            )
            groups.setdefault(key, []).append(summary)
    means = []
    for (_, machine, environment, device, _, direction), members in sorted(groups.items()):
        setup = of_setup.get((machine, environment))
        if setup is None or len(setup.commits) < 2:
            continue
        base = baseline(history, setup.commits)
        ratios = []
        for member in members:
            values = {index: point.value for index, point in member.points}
            comparable = member.comparable_from <= base
            if comparable and values.get(base, 0) > 0 and values.get(setup.newest, 0) > 0:
                ratios.append(values[setup.newest] / values[base])
        if ratios:
            labels = {"device": device} | ({"pass": direction} if direction else {})
            mean = geometric_mean(ratios)
            metric = members[0].metric
            means.append(
                MeanRatio(metric, setup, labels, base, setup.newest, mean.value, mean.count)
            )
    return tuple(means)


def baseline(history: History, commits: Sequence[int]) -> int:
    """The commit to compare the newest one with by default, by index.

    That is the newest tagged one before it, else the first.

    Args:
        history: The history.
        commits: Indices of measured commits, oldest first; one at least.
    """
    tagged = [index for index in commits[:-1] if history.commits[index].tags]
    return tagged[-1] if tagged else commits[0]


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


def _setups(
    history: History,
    series: Iterable[SeriesSummary],
    measured: dict[tuple[str, str], tuple[int, ...]],
    place: dict[str, int],
) -> tuple[Setup, ...]:
    """All setups, the one to show first at the front.

    That is the machine with the most series that have a value, and of its environments the
    one with the newest value, then with the newest torch.
    """
    members: dict[tuple[str, str], list[SeriesSummary]] = {key: [] for key in measured}
    series_of_machine: Counter[str] = Counter()
    for summary in series:
        members[summary.series.machine, summary.series.environment].append(summary)
        series_of_machine[summary.series.machine] += bool(summary.points)
    setups = []
    for (machine, environment), commits in sorted(measured.items()):
        if not commits:
            continue
        newest_runs = [
            summary.series.last
            for summary in members[machine, environment]
            if summary.at == commits[-1]
        ]
        records = history.recorded.get((machine, environment), {})
        record = [(place[commit], noted[-1]) for commit, noted in records.items()][-1:]
        setups.append(
            Setup(
                machine=history.machines[machine],
                environment=history.environments[environment],
                commits=commits,
                counts=dict(sorted(Counter(_WORD[run.outcome] for run in newest_runs).items())),
                at=max((run.at for run in newest_runs if run.at is not None), default=None),
                record=record[0] if record else None,
            )
        )
    setups.sort(key=lambda one: (one.newest, release_order(one.environment.torch)), reverse=True)
    setups.sort(key=lambda one: (-series_of_machine[one.machine.name], one.machine.name))
    return tuple(setups)


def _summary(
    index: int,
    series: Series,
    history: History,
    findings: Findings,
    *,
    metric: Metric,
    place: dict[str, int],
    measured: tuple[int, ...],
    change: Change | None,
) -> SeriesSummary:
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
    newest_value = points[-1][0] if points else -1
    behind = sum(commit > newest_value for commit in measured) if points else 0
    if status == _WORD[Outcome.OK] and behind:
        status = "stale"
    segments = findings.segments[index] if findings.segments else ()
    values = {commit: point.value for commit, point in points}
    return SeriesSummary(
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
        levels=findings.levels[index],
        comparable_from=place[segments[-1].commits[0]] if segments else 0,
        noise=findings.noise[index],
        spark=tuple(values.get(commit) for commit in measured[-SPARK_VALUES:]),
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
