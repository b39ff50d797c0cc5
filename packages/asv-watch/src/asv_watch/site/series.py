"""A series as the site shows it: what it measures, its changes, and the levels of its values."""

import math
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
    measured: tuple[Change, ...]
    """Changes that comparisons measured, the newest first."""
    stretches: tuple[Stretch, ...]
    behind: int
    """Number of commits that its machine and environment measured since its newest value."""

    @property
    def last(self) -> tuple[int, Run] | None:
        """The newest run with a value, and its commit index."""
        valued = self.series.valued
        return (int(valued.indices[-1]), valued.last) if valued.runs else None

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
    changes = [(change.commit, change.ratio) for change in measured if change.ratio]
    oldest = min([int(commits[0]), *(commit - 1 for commit, _ in changes)])
    changed = (commit for commit, _ in changes)
    starts = sorted({oldest, *changed, *(int(segment.indices[0]) for segment in segments)})
    bounds = [*np.searchsorted(commits, starts).tolist(), len(values)]
    cut = []
    for first, begin, end in zip(starts, bounds, bounds[1:], strict=False):
        level = 1 / math.prod(ratio for commit, ratio in changes if commit > first)
        positive = values[begin:end][values[begin:end] > 0]
        scale = level / float(np.median(positive)) if len(positive) else 0.0
        cut.append(Stretch(first, shortened(level), shortened(scale)))
    return tuple(cut)
