"""The gate's result for one head commit."""

from __future__ import annotations

import re
from enum import Enum
from typing import Literal

import msgspec

from asv_watch.answers import UNMEASURED, Answer, Difference, measured_difference
from asv_watch.comparison import Ratio
from asv_watch.errors import WatchError
from asv_watch.gate.certainty import answer_to, is_certain, slowdown_factor
from asv_watch.records.notes import ChangeNote
from asv_watch.statistics import stopping
from asv_watch.statistics.rule import Verdict

Outcome = Literal["passed", "failed", "undecided"]


class GateAnswer(Answer, kw_only=True):
    """What a gate found, as JSON."""

    outcome: Outcome
    """Whether the pull request may be merged."""


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


_STATES: dict[Verdict, CaseState] = {
    Verdict.WORSE: CaseState.WORSE,
    Verdict.BETTER: CaseState.BETTER,
    Verdict.SAME: CaseState.SAME,
}


class GateCase(msgspec.Struct, frozen=True):
    """One case that the gate chose."""

    case: str
    """asv's name of the case: ``suite.Class.time_x('darnn', 'cpu')``."""
    changes: tuple[Ratio, ...] = ()
    """Its measurements, head against base: one, and for a slower case a second one that shows its
    size, because the first is biased by selection."""
    skipped: str = ""
    """Why it cannot run here."""
    failed: str = ""
    """Why a measurement failed."""
    threshold: float | None = None
    """Its own threshold, if asv.conf.json declares one (0.05 is 5 %)."""

    def limit(self, threshold: float) -> float:
        """Return its own threshold, or else the general one (0.03 is 3 %)."""
        return threshold if self.threshold is None else self.threshold

    @property
    def is_measured(self) -> bool:
        """Whether head and base were compared."""
        return bool(self.changes)

    @property
    def factor(self) -> float:
        """Newest slowdown factor: how many times slower or larger the head is.

        It is infinite if an exact value got worse and one side is zero or below.
        """
        if not self.changes:
            return 0.0
        newest = self.changes[-1]
        return slowdown_factor(newest.ratio, higher_is_better=newest.higher_is_better)


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the gate for one head commit."""

    base: str
    """Full hash of the merge base."""
    head: str
    environment: str
    """Such as ``numpy 2.4.0``."""
    machine: str
    pattern: str
    """Regular expression that chose the cases; empty if the changed files did."""
    notes: tuple[ChangeNote, ...] = ()
    """The slowdowns that the head calls expected in ``results/notes.toml``."""
    available: int = 0
    """Number of cases from which these were chosen."""
    limit_s: float
    seconds: float = 0.0
    """Duration of building and measuring."""
    cases: tuple[GateCase, ...] = ()
    is_prepared: bool = False
    """Whether both commits were built and the cases chosen within the limit."""

    @property
    def is_timed(self) -> bool:
        """Whether its cases time something; otherwise they measure amounts."""
        return all(change.unit == "seconds" for case in self.cases for change in case.changes)

    def state(self, case: GateCase) -> CaseState:
        """Return the state of one of the cases."""
        if case.failed:
            return CaseState.FAILED
        if not case.changes:
            return CaseState.SKIPPED if case.skipped else CaseState.NOT_MEASURED
        change = case.changes[0]
        if change.is_too_noisy:
            return CaseState.NOISY
        state = _STATES[change.verdict]
        is_uncertain = state is CaseState.WORSE and not is_certain(change)
        return CaseState.NOT_CERTAIN if is_uncertain else state

    def in_state(self, *states: CaseState) -> list[GateCase]:
        """List the cases in some states, the largest change first."""
        cases = [case for case in self.cases if self.state(case) in states]
        return sorted(cases, key=lambda case: -case.factor)

    def accepted(self, case: GateCase) -> str:
        """Return what the head's last note about a slower case says; empty for any other case."""
        if self.state(case) not in {CaseState.WORSE, CaseState.NOT_CERTAIN}:
            return ""
        about = [note for note in self.notes if note.is_about(self.machine, case.case)]
        return about[-1].in_words if about else ""

    def too_slow(self, threshold: float) -> list[GateCase]:
        """List the cases that are slower by a share (0.03 is 3 %) or more, accepted or not."""
        slower = self.in_state(CaseState.WORSE)
        return [case for case in slower if case.factor >= 1 + case.limit(threshold)]

    def failing(self, threshold: float) -> list[GateCase]:
        """List the cases of `too_slow` that no note accepts."""
        return [case for case in self.too_slow(threshold) if not self.accepted(case)]

    def uncertain(self, threshold: float) -> list[GateCase]:
        """List the cases not called slower whose interval reaches the threshold."""
        return [
            case
            for case in self.in_state(CaseState.SAME, CaseState.NOISY)
            if any(
                answer_to(change, case.limit(threshold)) is stopping.Answer.UNKNOWN
                for change in case.changes
            )
        ]

    def is_undecided(self, threshold: float) -> bool:
        """Tell whether too little is known to let the head pass, or to refuse it.

        That is so if a case is slower but not for certain, and no note accepts it; if nothing is
        known of any case (not measured, or its interval reaches the threshold); or if cases are
        left although the interval of a measured one reaches the threshold.
        """
        left = bool(self.in_state(CaseState.NOT_MEASURED))
        uncertain = len(self.uncertain(threshold))
        is_any_known = sum(case.is_measured for case in self.cases) > uncertain
        return (
            not self.is_prepared
            or not all(map(self.accepted, self.in_state(CaseState.NOT_CERTAIN)))
            or (bool(left or uncertain) and not is_any_known)
            or (left and bool(uncertain))
        )

    def passes(self, threshold: float) -> bool:
        """Tell whether no case failed and none is `failing`."""
        return not self.in_state(CaseState.FAILED) and not self.failing(threshold)

    def outcome(self, threshold: float) -> Outcome:
        """Return whether the head may be merged."""
        if not self.passes(threshold):
            return "failed"
        return "undecided" if self.is_undecided(threshold) else "passed"

    def difference(self, case: GateCase) -> Difference:
        """Describe one of the cases in the schema of all commands."""
        if not case.changes or case.failed:
            reason = case.failed or case.skipped
            return Difference(
                case=case.case, verdict=UNMEASURED, reason=reason, machine=self.machine
            )
        difference = measured_difference(case.changes[-1], self.machine)
        difference.case, difference.expected = case.case, self.accepted(case)
        if self.state(case) is CaseState.NOT_CERTAIN:
            difference.reason = "not for certain"
        return difference

    def answer(self, threshold: float) -> GateAnswer:
        """Describe the result in the schema of all commands."""
        return GateAnswer(
            command="gate",
            before=self.base,
            after=self.head,
            differences=list(map(self.difference, self.cases)),
            outcome=self.outcome(threshold),
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
