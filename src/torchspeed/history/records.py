"""The nouns of a history: what was measured, where, on which commit, and how it went.

Everything downstream (change points, comparisons, the site) speaks in these.
They hold no logic beyond reading their own fields, and nothing here knows how
asv stores results or how the site shows them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum


class Outcome(Enum):
    """What became of one case at one commit in one environment on one machine.

    *Stale* is not an outcome of a run: it is an ``OK`` that is not from the
    newest commit measured, and so is derived, never stored.
    """

    OK = "ok"
    FAILED = "failed"
    TIMED_OUT = "timed out"
    SKIPPED = "skipped"
    NEVER_RUN = "never run"


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of the tracked branch, or a tagged one."""

    hash: str
    """Full hexadecimal hash."""
    date: int
    """Committer date, seconds since the epoch."""
    subject: str
    """First line of the message: hostile input, to be escaped where shown."""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Machine:
    """Where results were measured, as its ``machine.json`` says."""

    name: str
    facts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Environment:
    """What results were measured with: Python, requirements, variables."""

    name: str
    """asv's name of it: the file name of its results, after the commit."""
    python: str
    requirements: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def torch(self) -> str:
        """The torch release, or an empty string where none is pinned."""
        return self.requirements.get("torch", "")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One function of a suite, as ``benchmarks.json`` describes it."""

    name: str
    """Dotted name, such as ``time_series.TimeSeries.time_forward``."""
    type: str
    """``time``, ``peakmemory`` or ``track``."""
    unit: str
    """``seconds``, ``bytes`` or what a ``track_*`` says."""
    param_names: tuple[str, ...] = ()
    params: tuple[tuple[str, ...], ...] = ()
    """The values of each parameter, as asv writes them (``repr`` of the value)."""
    version: str = ""
    higher_is_better: bool = False
    timeout: float = math.nan
    """Seconds after which a case of it is stopped."""


@dataclass(frozen=True, slots=True)
class Case:
    """One benchmark with one value for each of its parameters."""

    benchmark: str
    params: tuple[str, ...] = ()
    """Values as asv writes them, one for each of the benchmark's parameters."""
    labels: dict[str, str] = field(default_factory=dict, hash=False, compare=False)
    """Parameter name to plain value (quotes of ``repr`` removed), plus ``pass``."""

    @property
    def name(self) -> str:
        """asv's way of writing a case: ``suite.Class.time_x('darnn', 'cpu')``."""
        return f"{self.benchmark}({', '.join(self.params)})" if self.params else self.benchmark


@dataclass(frozen=True, slots=True)
class Point:
    """One figure of one case, with its spread, at one commit."""

    value: float
    """Median of the samples, in the benchmark's unit; always finite."""
    interval: tuple[float, float] | None = None
    """99 % confidence interval of the median, where asv has one."""
    quartiles: tuple[float, float] | None = None
    """First and third quartile of the samples."""
    samples: tuple[float, ...] = ()
    """Every sample, where the run recorded them."""
    started_at: int | None = None
    """When its benchmark started, seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Run:
    """The result of one case at one commit: an outcome, a figure if it is ``OK``."""

    outcome: Outcome
    point: Point | None = None
    reason: str = ""
    """Why it failed, timed out or was skipped: the message of the run."""


@dataclass(frozen=True, slots=True)
class Series:
    """All runs of one case on one machine in one environment, by commit."""

    machine: str
    environment: str
    case: Case
    unit: str
    higher_is_better: bool
    runs: dict[str, Run]
    """Commit hash to run, in the order of the history's commits, none missing a record."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A piece of the stored results that could not be read."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class History:
    """Everything that the tracked results say."""

    commits: tuple[Commit, ...]
    """Oldest first, along the tracked branch."""
    machines: dict[str, Machine]
    environments: dict[str, Environment]
    benchmarks: dict[str, Benchmark]
    series: tuple[Series, ...]
    problems: tuple[Problem, ...] = ()
