"""A series as the site shows it: what it measures, its changes, and the levels of its values."""

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from asv_watch.comparison import Run
from asv_watch.judge.changes import KIND_OF_UNIT, Change, Kind
from asv_watch.records.history import Series
from asv_watch.records.records import Benchmark, Environment
from asv_watch.site import names
from asv_watch.site.scripts import shortened
from asv_watch.statistics.ratio import Indices
from asv_watch.text import quantities


class Metric(msgspec.Struct, frozen=True):
    """A metric: its values may share an axis."""

    id: str
    label: str
    unit: str
    kind: Kind
    better: Literal["less", "more"]
    scale: tuple[tuple[float, str], ...]
    """Steps in which values are written, the largest first: ``(0.001, "ms")``."""


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
    change: Change | None
    """Its newest change."""
    measured: tuple[Change, ...]
    """Measured changes of a time or of memory, the newest first."""
    noise: float | None
    """Standard deviation of the logarithm of a value between runs, if known."""
    stretches: tuple[Stretch, ...]
    behind: int
    """Number of commits that its machine and environment measured since its newest value."""

    @property
    def last(self) -> tuple[int, Run] | None:
        """The newest run with a value, and its commit index."""
        if not self.has_value:
            return None
        return int(self.series.valued.indices[-1]), self.series.valued.last

    @property
    def has_value(self) -> bool:
        """Whether any run of it has a value."""
        return bool(self.series.valued.runs)

    @property
    def case(self) -> str:
        """Full name of its case."""
        return self.series.case.name

    @property
    def machine(self) -> str:
        """The machine that measured it."""
        return self.series.machine

    @property
    def setup(self) -> tuple[str, str]:
        """Names of its machine and environment."""
        return self.series.setup

    @property
    def labels(self) -> dict[str, str]:
        """Labels of the case."""
        return self.series.case.labels


def metric_of(series: Series) -> Metric:
    """Return what a series measures."""
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


def stretches_of(
    series: Series, measured: Sequence[Change], segments: Sequence[Series]
) -> tuple[Stretch, ...]:
    """Cut a series into stretches, oldest first; without a value it has none."""
    commits, values = series.valued.indices, series.valued.values
    if not len(commits):
        return ()
    levels = _levels(commits, measured)
    starts = sorted({*(first for first, _ in levels), *(int(s.indices[0]) for s in segments)})
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
    first = min([int(commits[0]), *(commit - 1 for commit, _ in levels)])
    return [(first, level), *reversed(levels)]
