"""How a project's cases are laid out: what a row stands for, and what columns and filters are.

A project that measures models has a row for each model and a column for each device and pass. Any
other has a row for each benchmark, in groups by its module and class, and the columns are the
values of the parameters that most of its benchmarks share.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from asv_watch.records.labels import measures_models, plain_value
from asv_watch.records.records import Benchmark

MOST_COLUMNS = 6
"""Columns of a matrix at most, in a project that measures no models."""
_MOST_PARAMETERS = 2
_LEAST_SHARE = 1 / 3
"""Share of the benchmarks that must have a parameter for its values to become columns."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What rows and columns of a project's tables stand for."""

    subject: str
    """What a row is: ``model`` or ``benchmark``."""
    columns: tuple[str, ...]
    """Labels whose values are columns and filters, two at most; none in a plain project."""

    @property
    def of_models(self) -> bool:
        """Whether the project measures models."""
        return self.subject == "model"

    def column(self, labels: Mapping[str, str]) -> tuple[str, ...]:
        """Return the column that a case with these labels belongs to."""
        return tuple(labels.get(name, "") for name in self.columns)

    def group(self, benchmark: Benchmark) -> str:
        """Return the heading under which lists have a benchmark.

        The suite of models is ``time series``; of other benchmarks it is module and class,
        ``parsing · Parser``, and empty for a function that has neither.
        """
        if not self.of_models:
            return " · ".join(benchmark.name.split(".")[:-1])
        words = benchmark.name.partition(".")[0].split("_")
        return " ".join("CNNs" if word == "cnns" else word for word in words)

    def group_order(self, benchmark: Benchmark) -> tuple[int, str]:
        """Sort key that puts groups where their suites declare (`position`), then by name."""
        return (benchmark.position, self.group(benchmark))


def layout_of(benchmarks: Iterable[Benchmark]) -> Layout:
    """Choose the layout of a project from its benchmarks."""
    benchmarks = list(benchmarks)
    if measures_models(benchmarks):
        return Layout("model", ("device", "pass"))
    return Layout("benchmark", _shared_parameters(benchmarks))


def _shared_parameters(benchmarks: Sequence[Benchmark]) -> tuple[str, ...]:
    """Return the parameters of most benchmarks that make `MOST_COLUMNS` columns at most."""
    values: dict[str, set[str]] = defaultdict(set)
    owners: Counter[str] = Counter()
    for benchmark in benchmarks:
        for name, of_name in zip(benchmark.param_names, benchmark.params, strict=True):
            values[name].update(map(plain_value, of_name))
            owners[name] += 1
    chosen: list[str] = []
    for name, count in sorted(owners.items(), key=lambda owner: (-owner[1], owner[0])):
        columns = math.prod(len(values[other]) for other in (*chosen, name))
        is_shared = count > 1 and count >= _LEAST_SHARE * len(benchmarks)
        if is_shared and len(values[name]) > 1 and columns <= MOST_COLUMNS:
            chosen.append(name)
    return tuple(chosen[:_MOST_PARAMETERS])
