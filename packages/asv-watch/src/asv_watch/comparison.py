"""The noun of this package: what was measured of one case in one sitting, kept whole.

A **sitting** is one invocation that measured k versions interleaved: one version is a run, two are
a comparison, more a chain of releases. A `Comparison` holds one number for each version and round,
or why there is none, and nothing derived. Its ratio, interval, verdict and value are worked out
here; what several sittings say together is a question for the graph (`asv_watch.judge.graph`).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from enum import Enum
from functools import cached_property
from typing import Annotated, Any, Literal

import msgspec

from asv_watch.statistics.graph import Star
from asv_watch.statistics.ratio import estimate_ratio, levels
from asv_watch.statistics.rule import TOO_NOISY, Verdict, judged, verdict
from asv_watch.text import quantities
from asv_watch.versions.version import Version

Kind = Literal[
    "compare", "reference", "confirm", "release", "null", "planted", "bisect", "run", "cases"
]
"""Why versions were measured.

``compare``: a person asked, or a new commit against the one measured before it; ``reference``: a
commit against the machine's reference; ``confirm``: a change again, against its predecessor;
``release``: releases of a requirement; ``null``: a version against itself; ``planted``: against
itself, slowed down on purpose; ``bisect``: a midpoint of a bisection; ``run``: a version alone;
``cases``: cases of one version that do the same, each as a side.
"""
Metric = Literal["time", "memory"]
"""What a ratio compares: times, or amounts of anything else."""
Clock = Literal["", "process"]
"""Clock of a ratio: the case's own (empty), or CPU time instead of asv's default, wall time."""
Time = Annotated[int, msgspec.Meta(ge=0, lt=10**11)]
"""Seconds since the epoch, as stored in files."""
Finite = Annotated[float, msgspec.Meta(gt=-1e300, lt=1e300)]
"""A number that can be stored; the quotient of two of them may still be zero or infinite."""
Rounds = tuple[tuple[Finite | None, ...], ...]
"""For each round one number for each version; ``None`` if a version gave none."""

DAY = 86_400
"""Seconds of a day (UTC)."""
SMALL = 0.05
"""A smaller difference (0.05 is 5 %) has to be shown by `ENOUGH_DAYS`: of those that one day alone
shows, one in seven is not there on another."""
ENOUGH_DAYS = 2


class Outcome(Enum):
    """Outcome of a case with one version.

    *Stale* is not an outcome: it is derived from the newest measured commit and never stored.
    """

    OK = "ok"
    FAILED = "failed"
    TIMED_OUT = "timed out"
    SKIPPED = "skipped"
    NEVER_RUN = "never run"


class Run(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The result of one case at one commit: an outcome, and a value if it is ``OK``."""

    outcome: Outcome
    value: float = math.nan
    """The stored median of the rounds, or of the samples of `asv run`; for runs before 2026-11-26
    the smallest sample. Finite if the outcome is ``OK``, else NaN."""
    reason: str = ""
    """Why it failed, timed out or was skipped: the message of the run."""
    recipe: str = ""
    """How its samples were taken; empty if unknown."""


NEVER_RUN = Run(Outcome.NEVER_RUN)
"""The run of a case that was not selected when its commit was measured."""


class Conditions(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The environment and machine of a sitting's last version, as they were found."""

    environment: str
    """asv's name of it, as in the names of result files."""
    variables: dict[str, str] = {}
    """Environment variables that asv.conf.json sets."""
    machine: dict[str, str] = {}
    """Facts of the machine, which stay the same until a person changes something."""
    facts: dict[str, str] = {}
    """Facts of the environment: Python, packages and their builds, variables."""
    details: dict[str, Any] = {}
    """What is too long for a fact, for people who open the file."""
    before: Any = None
    """State of the machine when the sitting began: load, temperatures, clocks."""
    after: Any = None
    """State of the machine when it ended; the last line of a sitting says it."""


class Sitting(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One invocation that measured: which versions, where, when and how."""

    kind: Kind
    at: Time
    """When it began."""
    machine: str
    versions: Annotated[tuple[Version, ...], msgspec.Meta(min_length=1)]
    recipe: dict[str, float | str] = {}
    """How samples and rounds were taken."""
    conditions: Conditions | None = None
    """If present, the values of the last version count as those of its commit."""

    @property
    def key(self) -> tuple[str, int, Kind, tuple[Version, ...]]:
        """What tells sittings apart."""
        return self.machine, self.at, self.kind, self.versions

    @property
    def requirement(self) -> str:
        """The requirement whose releases were compared; empty if all sides have the same."""
        first, last = self.versions[0].requirements, self.versions[-1].requirements
        return next((name for name in last if name in first and last[name] != first[name]), "")


UNSTORED = Sitting(kind="run", at=0, machine="", versions=(Version("0" * 8, {}, ""),))
"""Sitting of a comparison that is not stored yet, and of a stored line before it is placed."""


class Ratio(msgspec.Struct, frozen=True):
    """The ratio of a case between two versions: of one sitting, or by all that was measured."""

    case: str
    unit: str
    ratio: float
    """After over before: above 1 is slower, or more memory. Of exact values of zero or below it is
    infinite or zero."""
    interval: tuple[float, float]
    """Confidence interval of the ratio (99 %); of exact counts it has no width."""
    before: float
    """Value before, in ``unit``."""
    after: float
    higher_is_better: bool = False
    exact: bool = False
    clock: Clock = ""
    """CPU time if any of the sittings used it."""
    at: Time = 0
    """When it was measured, or measured last."""
    rounds: int = 0
    """Number of rounds of exactly these two versions."""
    sittings: tuple[Ratio, ...] = ()
    """Of a ratio by all that was measured: the ratio of each sitting that compared exactly these
    two versions, oldest first."""
    days_showing: int = 0
    """Number of days (UTC) whose comparisons show this difference without those of other days."""

    def __str__(self) -> str:
        """Return it with its interval: ``+5.2 % (+4.1 to +6.3 %)``, or a count without one."""
        size, (low, high) = quantities.change(self.ratio, self.metric), self.interval
        return size if low == high else f"{size} ({quantities.interval((low, high), self.clock)})"

    @property
    def metric(self) -> Metric:
        """What is compared: a time, or an amount."""
        return metric_of(self.unit)

    @property
    def verdict(self) -> Verdict:
        """Whether after is worse than before, better, or not clearly different."""
        if self.exact and self.after != self.before:
            return judged(is_more=self.after > self.before, higher_is_better=self.higher_is_better)
        return verdict(self.ratio, self.interval, higher_is_better=self.higher_is_better)

    @property
    def differs(self) -> bool:
        """Whether the two versions clearly differ."""
        return self.verdict is not Verdict.SAME

    @property
    def is_too_noisy(self) -> bool:
        """Whether no difference was found although one of `TOO_NOISY` might not have shown."""
        low, high = self.interval
        is_wide = low < high and math.log(high / low) > 2 * math.log1p(TOO_NOISY)
        return is_wide and not self.differs

    @property
    def days(self) -> int:
        """Number of days (UTC) on which exactly these two versions were compared."""
        return len({ratio.at // DAY for ratio in self.sittings})

    @property
    def days_in_words(self) -> str:
        """How many days show the difference by themselves; empty if there is none."""
        return quantities.days(self.days_showing, self.days) if self.differs else ""

    @property
    def needs_second_day(self) -> bool:
        """Whether it is a small difference that fewer than two days show."""
        is_small = abs(self.ratio - 1) < SMALL  # as it is written, for more and for less
        return self.differs and not self.exact and is_small and self.days_showing < ENOUGH_DAYS


class Comparison(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, dict=True
):
    """One case in one sitting, with the numbers of its versions."""

    case: str
    """asv's name of the case: ``suite.Class.time_x('darnn', 'cpu')``."""
    at: Time
    """When it was finished."""
    unit: Annotated[str, msgspec.Meta(max_length=100)] = "seconds"
    rounds: Rounds = ()
    """Numbers in ``unit``; seconds of a call are those of the case's own clock."""
    wall: Rounds = ()
    """Wall-clock seconds of a call, if the case's own clock measures something else."""
    cpu: Rounds = ()
    """CPU seconds of a call, if the case's own clock measures something else."""
    clock: Clock = ""
    """Clock of the ratios. `asv_watch.engine.rounds` chooses it by how often a process waited,
    which is not stored."""
    exact: bool = False
    """Whether every process gives the same value, so that any difference counts."""
    least_spread: float = 0.0
    """Lower bound of its rounds' spread: the median of all cases when it was finished. It is
    stored because later rounds of other cases would change it, and with it the interval by which
    the case was found precise enough."""
    skipped: dict[int, str] = {}
    """Maps the index of a version to the reason why it cannot run here."""
    failed: dict[int, str] = {}
    """Maps the index of a version to what went wrong."""
    late: tuple[int, ...] = ()
    """Indices of the versions that failed because they took too long."""
    higher_is_better: bool = False
    """Whether more of the value is better, as its suite or its unit says."""
    one_setup: bool = False
    """Whether all samples of a round shared one ``setup``, which takes more than ten times as long
    as a sample."""
    cases: tuple[str, ...] = ()
    """The case of each version where they differ; empty for a version that has none."""
    benchmark_version: str = ""
    """Version of its benchmark as asv stores it: a commit's value counts for this code alone."""
    sitting: Sitting = UNSTORED

    def case_of(self, version: int) -> str:
        """Return the case that was measured of a version, by index."""
        return self.cases[version] if self.cases else self.case

    @property
    def metric(self) -> Metric:
        """What its ratios compare."""
        return metric_of(self.unit)

    def numbers(self, *versions: int) -> list[tuple[float, ...]]:
        """Return the rounds in which all of these versions, by index, gave a number."""
        return _complete(self.rounds, versions)

    def value(self, version: int) -> float | None:
        """Return the value of a version: the median over its rounds, in ``unit``."""
        numbers = self.numbers(version)
        return statistics.median(number for (number,) in numbers) if numbers else None

    def outcome(self, version: int) -> tuple[Outcome, str]:
        """Return the outcome of a version, and why it has no number."""
        if version in self.skipped:
            return Outcome.SKIPPED, self.skipped[version]
        if version in self.failed:
            outcome = Outcome.TIMED_OUT if version in self.late else Outcome.FAILED
            return outcome, self.failed[version]
        return Outcome.OK if self.numbers(version) else Outcome.NEVER_RUN, ""

    def with_rounds_of(self, other: Comparison) -> Comparison:
        """Return this case with the rounds of another measurement of its versions added."""
        return msgspec.structs.replace(
            self,
            rounds=self.rounds + other.rounds,
            cpu=(self.cpu or self.rounds) + (other.cpu or other.rounds),
            clock=self.clock or other.clock,
        )

    def alone(self, version: int) -> Comparison:
        """Return what was measured of one version, by index, as if it were the only one."""
        return msgspec.structs.replace(
            self,
            rounds=tuple(_complete(self.rounds, [version])),
            wall=(),
            cpu=(),
            least_spread=0.0,
            skipped={0: self.skipped[version]} if version in self.skipped else {},
            failed={0: self.failed[version]} if version in self.failed else {},
            late=(0,) if version in self.late else (),
            sitting=UNSTORED,
        )

    def why_no_ratio(self, before: int, after: int) -> tuple[Outcome, str]:
        """Return why two versions have no ratio: a failure counts before a skip."""
        outcomes = [self.outcome(version) for version in (before, after)]
        for wanted in (Outcome.FAILED, Outcome.TIMED_OUT, Outcome.SKIPPED):
            for outcome, reason in outcomes:
                if outcome is wanted:
                    return outcome, reason
        if len(self.numbers(before, after)) > 1:
            return Outcome.SKIPPED, "values of zero or below, or too far apart, have no ratio"
        return Outcome.SKIPPED, "fewer than two rounds"

    def ratio(self, before: int, after: int) -> Ratio | None:
        """Return the ratio of two versions in this sitting alone, by index; ``None`` if unknown.

        Its interval says nothing about other sittings.
        """
        rounds = _complete(self._compared_rounds, (before, after))
        if self.exact and rounds:
            old, new = rounds[-1]
            ratio = _exact_ratio(old, new)
            interval = ratio, ratio
        elif len(rounds) < 2 or not _has_ratios(rounds):
            return None
        else:
            ratio, interval = estimate_ratio([new / old for old, new in rounds], self.least_spread)
            old, new = (statistics.median(side) for side in zip(*rounds, strict=True))
        return Ratio(
            self.case,
            self.unit,
            ratio,
            interval,
            old,
            new,
            self.higher_is_better,
            self.exact,
            self.clock,
            self.at,
            len(rounds),
        )

    def star(self, usual_spread: float) -> Star[int] | None:
        """Return the levels of its versions, by index; ``None`` if fewer than two have any.

        Args:
            usual_spread: usual standard deviation of rounds' ratios on the machine.
        """
        return self.star_of_rounds.corrected(usual_spread) if self.star_of_rounds else None

    @cached_property
    def star_of_rounds(self) -> Star[int] | None:
        """The levels of its versions, and what its own rounds alone say about their variances."""
        measured = self.measured_sides
        rounds = _complete(self._compared_rounds, measured)
        if self.exact or len(measured) < 2 or len(rounds) < 2 or not _has_ratios(rounds):
            return None
        logs, variances = levels(rounds)
        return Star(tuple(measured), tuple(logs), tuple(variances), len(rounds) - 1)

    @property
    def measured_sides(self) -> list[int]:
        """Indices of the versions that gave a number."""
        sides = range(len(self.rounds[0]) if self.rounds else 0)
        return [
            side for side in sides if any(numbers[side] is not None for numbers in self.rounds)
        ]

    @property
    def _compared_rounds(self) -> Rounds:
        return self.cpu if self.clock == "process" and self.cpu else self.rounds


def metric_of(unit: str) -> Metric:
    """Return what a ratio of values in a unit compares."""
    return "time" if unit == "seconds" else "memory"


def import_case(requirement: str) -> str:
    """Name the case that measures the CPU seconds of an import in a new process."""
    return f"import {requirement}"


def is_import(case: str) -> bool:
    """Tell whether a case measures an import, as `import_case` names it."""
    return case.startswith(import_case(""))


def _exact_ratio(before: float, after: float) -> float:
    """Return after over before; infinite if it is more than a value of zero or below."""
    if after == before:
        return 1.0
    if min(before, after) > 0:
        return after / before
    return math.inf if after > before else 0.0


def _has_ratios(rounds: Sequence[tuple[float, ...]]) -> bool:
    """Tell whether all numbers are above zero, and no two so far apart that they overflow."""
    return min(map(min, rounds)) > 0 and max(map(max, rounds)) / min(map(min, rounds)) < math.inf


def _complete(rounds: Rounds, versions: Sequence[int]) -> list[tuple[float, ...]]:
    """Return the numbers of these versions, for the rounds in which all gave one."""
    chosen = ([numbers[version] for version in versions] for numbers in rounds)
    known = (tuple(n for n in numbers if n is not None) for numbers in chosen)
    return [numbers for numbers in known if len(numbers) == len(versions)]
