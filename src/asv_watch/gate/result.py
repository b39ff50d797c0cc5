"""The gate's result for one pull request, as a file that another workflow reads.

The file comes from a job that ran the code of the pull request. `read_result` reads its field
``gate`` and checks everything in it, and `asv_watch.gate.comment` escapes every text.
"""

from __future__ import annotations

import math
import re
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec

from asv_watch.errors import WatchError
from asv_watch.files import read_regular
from asv_watch.gate.certainty import is_certain, reaches, slowdown_factor
from asv_watch.records.comparisons import CaseRatio
from asv_watch.statistics.rule import Verdict, is_too_noisy, judged, verdict
from asv_watch.versions.commits import FullHash

LARGEST_BYTES = 1_000_000
"""Largest size of a file that is read."""
_Value = Annotated[float, msgspec.Meta(gt=-1e18, lt=1e18)]
_Text = Annotated[str, msgspec.Meta(max_length=2000)]


class CaseState(Enum):
    """The state of a case in the gate."""

    WORSE = "worse"
    """Certainly worse (`asv_watch.gate.certainty`), or by an exact value."""
    NOT_CERTAIN = "worse, but not for certain"
    """Worse, but only by its 99 % interval."""
    FAILED = "failed"
    BETTER = "better"
    SAME = "same"
    NOISY = "too noisy to tell"
    """No difference was found, although one of 10 % might not have shown."""
    SKIPPED = "skipped"
    NOT_MEASURED = "not measured"


_STATES = {
    Verdict.WORSE: CaseState.WORSE,
    Verdict.BETTER: CaseState.BETTER,
    Verdict.SAME: CaseState.SAME,
}


class ExactValues(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A value that all processes agree on, for the base and for the head."""

    before: _Value
    after: _Value
    unit: _Text
    higher_is_better: bool = False

    @property
    def ratio(self) -> float | None:
        """Head over base; ``None`` if one of them is zero or below."""
        return self.after / self.before if min(self.before, self.after) > 0 else None

    @property
    def verdict(self) -> Verdict:
        """Whether the head is worse: a larger value is, unless higher is better."""
        if self.after == self.before:
            return Verdict.SAME
        is_more = self.after > self.before
        return judged(is_more=is_more, higher_is_better=self.higher_is_better)


class GateCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One case that the gate chose."""

    case: _Text
    """asv's name of the case: ``suite.Class.time_x('darnn', 'cpu')``."""
    changes: Annotated[tuple[CaseRatio, ...], msgspec.Meta(max_length=9)] = ()
    """Its measurements, head against base: one, and for a slower case a second one that shows its
    size, because the first is biased by selection; none for an exact value."""
    exact: ExactValues | None = None
    skipped: _Text = ""
    """Why it cannot run here."""
    failed: _Text = ""
    """Why a measurement failed."""
    threshold: Annotated[float, msgspec.Meta(ge=0, le=9)] | None = None
    """Its own threshold, if asv.conf.json declares one (0.05 is 5 %)."""

    def limit(self, threshold: float) -> float:
        """Return its own threshold, or else the general one (0.03 is 3 %)."""
        return threshold if self.threshold is None else self.threshold

    @property
    def is_measured(self) -> bool:
        """Whether head and base were compared."""
        return bool(self.changes) or self.exact is not None

    @property
    def factor(self) -> float:
        """Newest slowdown factor: how many times slower or larger the head is.

        It is infinite if an exact value got worse and one side is zero or below.
        """
        newest = self.exact or (self.changes[-1] if self.changes else None)
        if newest is None:
            return 0.0
        if newest.ratio is not None:
            return slowdown_factor(newest.ratio, higher_is_better=newest.higher_is_better)
        return math.inf if self.exact and self.exact.verdict is Verdict.WORSE else 0.0


class GateResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The result of the gate for one head commit."""

    pull_request: Annotated[int, msgspec.Meta(ge=0, lt=10**9)]
    """Its number; 0 if it has none."""
    base: FullHash
    """The merge base."""
    head: FullHash
    environment: _Text
    """Such as ``numpy 2.4.0``."""
    machine: _Text
    pattern: _Text
    """Regular expression that chose the cases; empty if the changed files did."""
    available: Annotated[int, msgspec.Meta(ge=0, lt=10**6)]
    """Number of cases from which these were chosen."""
    limit_s: Annotated[float, msgspec.Meta(gt=0, lt=1e8)]
    seconds: Annotated[float, msgspec.Meta(ge=0, lt=1e8)]
    """Duration of building and measuring."""
    cases: tuple[GateCase, ...]
    is_prepared: bool = True
    """Whether both commits were built and the cases chosen within the limit."""
    format: Literal[6] = 6

    @property
    def is_timed(self) -> bool:
        """Whether its cases time something; otherwise they measure amounts."""
        return all(
            case.exact is None and all(change.unit == "seconds" for change in case.changes)
            for case in self.cases
        )

    def state(self, case: GateCase) -> CaseState:
        """Return the state of one of the cases."""
        if case.failed:
            return CaseState.FAILED
        if case.exact is not None:
            return _STATES[case.exact.verdict]
        if not case.changes:
            return CaseState.SKIPPED if case.skipped else CaseState.NOT_MEASURED
        change = case.changes[0]
        if is_too_noisy(change):
            return CaseState.NOISY
        state = _STATES[verdict(change)]
        is_uncertain = state is CaseState.WORSE and not is_certain(change)
        return CaseState.NOT_CERTAIN if is_uncertain else state

    def in_state(self, *states: CaseState) -> list[GateCase]:
        """List the cases in some states, the largest change first."""
        cases = [case for case in self.cases if self.state(case) in states]
        return sorted(cases, key=lambda case: -case.factor)

    def failing(self, threshold: float) -> list[GateCase]:
        """List the cases that are slower by a share (0.03 is 3 %) or more."""
        slower = self.in_state(CaseState.WORSE)
        return [case for case in slower if case.factor >= 1 + case.limit(threshold)]

    def uncertain(self, threshold: float) -> list[GateCase]:
        """List the cases not called slower whose interval reaches the threshold."""
        return [
            case
            for case in self.in_state(CaseState.SAME, CaseState.NOISY)
            if any(reaches(change, case.limit(threshold)) for change in case.changes)
        ]

    def is_undecided(self, threshold: float) -> bool:
        """Tell whether too little is known to let the head pass, or to refuse it.

        That is so if a case is slower but not for certain, if nothing is known of any case (not
        measured, or its interval reaches the threshold), or if cases are left although the
        interval of a measured one reaches the threshold.
        """
        left = bool(self.in_state(CaseState.NOT_MEASURED))
        uncertain = len(self.uncertain(threshold))
        is_any_known = sum(case.is_measured for case in self.cases) > uncertain
        return (
            not self.is_prepared
            or bool(self.in_state(CaseState.NOT_CERTAIN))
            or (bool(left or uncertain) and not is_any_known)
            or (left and bool(uncertain))
        )

    def passes(self, threshold: float, accepted: str) -> bool:
        """Tell whether no case failed and, unless slowdowns are accepted, `failing` is empty."""
        return not self.in_state(CaseState.FAILED) and (
            bool(accepted) or not self.failing(threshold)
        )


def parse_share(text: str) -> float:
    """Read a threshold such as ``3%`` or ``2.5 %``; return the share.

    Raises:
        WatchError: it is not a percentage from 0 to 900 %.
    """
    match = re.fullmatch(r" ?([0-9]{1,3}(?:\.[0-9]{1,6})?) ?%? ?", text)
    if match is None or float(match[1]) > 900:
        raise WatchError(f"threshold {text[:100]!r} is not a percentage; give one such as 3%")
    return float(match[1]) / 100


class _ResultFile(msgspec.Struct, frozen=True):
    """The part of a gate's answer (`asv_watch.gate.answer`) that is read; the rest is ignored."""

    gate: GateResult


def read_result(path: Path) -> GateResult:
    """Read a file from an untrusted source.

    Raises:
        WatchError: it cannot be read, is too large, or is not a result of the gate.
    """
    try:
        size = path.stat().st_size
        content = read_regular(path) if size <= LARGEST_BYTES else b""
    except (OSError, ValueError) as error:  # a null in a name is a ValueError
        raise WatchError(
            f"{str(path)!a} cannot be read ({error}); give the file that `asv-watch gate "
            "--json` wrote"
        ) from error
    if size > LARGEST_BYTES:
        raise WatchError(f"{path} is larger than {LARGEST_BYTES} bytes; measure again")
    return parse_as(_ResultFile, content, str(path)).gate


T = TypeVar("T")


def parse_as(kind: type[T], content: bytes, name: str) -> T:
    """Read a result, or an object that contains one.

    Raises:
        WatchError: it is not valid.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise WatchError(
            f"{name} is not a result of `asv-watch gate` ({error}); measure again"
        ) from error
