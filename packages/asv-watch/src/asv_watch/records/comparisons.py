"""Results of interleaved comparisons: ratios, exact values, or why there are none.

Two versions are compared as *before* and *after*: commits, or releases of a requirement. Where
and how that is stored is in `asv_watch.records.measurements`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from asv_watch.records.records import Time
from asv_watch.statistics.rule import Verdict, judged
from asv_watch.versions.version import Version

Kind = Literal["compare", "reference", "confirm", "release", "null", "planted", "bisect", "run"]
"""Why versions were measured.

``compare``: a person asked, or a new commit against the one measured before it; ``reference``: a
commit against the machine's reference; ``confirm``: a change again, against its predecessor;
``release``: two releases of a requirement; ``null``: a version against itself; ``planted``:
against itself, slowed down on purpose; ``bisect``: a midpoint of a bisection; ``run``: a
version alone.
"""

RatioKind = Literal["time", "memory"]
"""What a ratio compares: times, or amounts of anything else."""
Clock = Literal["", "process"]
"""Clock of a ratio: the case's own (empty), or CPU time instead of asv's default, wall time."""
Positive = Annotated[float, msgspec.Meta(gt=0)]


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """The versions that were measured, where and how."""

    kind: Kind
    at: Time
    """When it began, seconds since the epoch."""
    machine: str
    versions: Annotated[tuple[Version, ...], msgspec.Meta(min_length=1)]
    """A single version, or several in the order in which they are compared, each with the next."""
    recipe: dict[str, float | str] = {}
    """How samples and rounds were taken."""
    format: Literal[3] = 3

    @property
    def before(self) -> Version:
        """The first version."""
        return self.versions[0]

    @property
    def after(self) -> Version:
        """The last version."""
        return self.versions[-1]

    def between(self, before: int, after: int) -> Measurement:
        """Return the same measurement of two of its versions alone, given by their indices."""
        versions = self.versions[before], self.versions[after]
        return msgspec.structs.replace(self, versions=versions)

    @property
    def requirement(self) -> str:
        """The requirement whose releases were compared; empty if both sides have the same."""
        old, new = self.before.requirements, self.after.requirements
        return next((name for name in new if name in old and new[name] != old[name]), "")


def ratio_kind(unit: str) -> RatioKind:
    """Return what a ratio of values in a unit compares."""
    return "time" if unit == "seconds" else "memory"


class CaseRatio(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One case whose time, peak memory or other value was measured on both sides, in rounds."""

    case: str
    """asv's name of the case: ``suite.Class.time_x('darnn', 'cpu')``."""
    at: Time
    """When it was finished, seconds since the epoch."""
    ratios: Annotated[tuple[Positive, ...], msgspec.Meta(min_length=2)]
    """After over before, a value for each round."""
    ratio: Positive
    """After over before: above 1 is slower."""
    interval: tuple[Positive, Positive]
    """Confidence interval of the ratio (99 %)."""
    before: Positive = msgspec.field(name="before_s")
    """Median over the rounds (until 2026-11-26, over all samples), in ``unit``: seconds a call."""
    after: Positive = msgspec.field(name="after_s")
    unit: str = "seconds"
    clock: Clock = ""
    higher_is_better: bool = False

    @property
    def kind(self) -> RatioKind:
        """What is compared: a time, or an amount."""
        return ratio_kind(self.unit)

    def __post_init__(self) -> None:
        """Refuse an interval that does not contain the ratio."""
        if not self.interval[0] <= self.ratio <= self.interval[1] < math.inf:
            raise ValueError("the interval does not contain the ratio")


class Unmeasured(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One case without a ratio: it was skipped or it failed on a side."""

    case: str
    at: Time
    skipped: str = ""
    """Why it cannot run here; empty if it failed."""
    failed: str = ""
    """What went wrong; empty if it was skipped."""
    failed_before: bool = False
    """Whether it failed on the side before; unknown for comparisons before 2026-11-22."""

    def __post_init__(self) -> None:
        """Refuse a case without a reason, or with two."""
        if bool(self.skipped) == bool(self.failed) or (self.failed_before and self.skipped):
            raise ValueError("a case without a ratio is either skipped or failed")


class CaseValues(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One case with a single value on each side: an exact count, or a release's peak memory."""

    case: str
    """asv's name of the case: ``suite.Class.peakmem_x('darnn', 'cpu')``."""
    at: Time
    """When it was measured, seconds since the epoch."""
    unit: str
    exact: bool = False
    """Whether every process gives the same value, so that any difference counts."""
    before: float | dict[str, str] | None = None
    """Value in ``unit``. Comparisons before 2026-11-24 may hold the reason for a missing value, or
    nothing."""
    after: float | dict[str, str] | None = None
    higher_is_better: bool = False

    @property
    def sides(self) -> tuple[float, float] | None:
        """Both values; ``None`` if one is missing."""
        before, after = self.before, self.after
        return (before, after) if isinstance(before, float) and isinstance(after, float) else None

    @property
    def ratio(self) -> float | None:
        """After over before; ``None`` from zero to anything else, or if a value is missing."""
        before, after = self.sides or (0.0, math.inf)
        if after == before:
            return 1.0
        return after / before if before else None

    @property
    def verdict(self) -> Verdict | None:
        """Whether an exact count is worse than before, better or the same.

        ``None`` if a value is missing.
        """
        if self.sides is None:
            return None
        before, after = self.sides
        if not self.exact or after == before:
            return Verdict.SAME
        return judged(is_more=after > before, higher_is_better=self.higher_is_better)


CaseResult = CaseRatio | Unmeasured | CaseValues


def import_case(requirement: str) -> str:
    """Name the case that measures the CPU seconds of an import in a new process."""
    return f"import {requirement}"


def is_import(case: str) -> bool:
    """Tell whether a case measures an import, as `import_case` names it."""
    return case.startswith(import_case(""))


class StoredComparison(msgspec.Struct, frozen=True):
    """A comparison of two versions, read from a file; the newest result of each case counts.

    A file with three or more versions gives a comparison of each with the one before it.
    """

    path: Path
    header: Measurement
    """Its two versions, where and how they were measured."""
    ratios: tuple[CaseRatio, ...]
    unmeasured: tuple[Unmeasured, ...]
    values: tuple[CaseValues, ...] = ()

    @property
    def times(self) -> tuple[CaseRatio, ...]:
        """The ratios of times."""
        return tuple(ratio for ratio in self.ratios if ratio.kind == "time")

    @property
    def failed_import(self) -> Unmeasured | None:
        """Why a release could not be installed or imported, so that nothing was measured."""
        imported = import_case(self.header.after.release.name)
        return next((case for case in self.unmeasured if case.case == imported), None)
