"""What releases changed: differences between neighbours, and whether another day shows them.

The newest comparison of each day counts. A difference is *refuted* where the newest one shows none
and its interval excludes what every earlier day showed, or shows one in the other direction. It is
*confirmed* where the comparisons of two days show it in the same direction. Otherwise it is
*unconfirmed*: it was measured on one day only, or the days neither agree nor exclude each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from asv_watch.judge.release_history import ReleaseStep
from asv_watch.records.comparisons import CaseRatio
from asv_watch.statistics.ratio import verdict
from asv_watch.statistics.rule import Verdict

_DAY = 86_400  # s


class State(Enum):
    """Whether comparisons of several days agree."""

    CONFIRMED = "confirmed"
    UNCONFIRMED = "unconfirmed"
    REFUTED = "refuted"


@dataclass(frozen=True, slots=True)
class ReleaseFinding:
    """A case that differs between two releases on one day at least."""

    step: ReleaseStep
    days: tuple[CaseRatio, ...]
    """The newest comparison of each day (UTC), oldest first."""
    state: State

    @property
    def case(self) -> str:
        """As asv names it."""
        return self.newest.case

    @property
    def newest(self) -> CaseRatio:
        """The newest comparison."""
        return self.days[-1]

    @property
    def shown(self) -> CaseRatio:
        """The newest comparison that shows a difference."""
        return next(ratio for ratio in reversed(self.days) if _differs(ratio))


def release_findings(step: ReleaseStep) -> tuple[ReleaseFinding, ...]:
    """List the cases that differ between two releases: confirmed ones first, then by size."""
    findings = []
    for case, newest in step.ratios.items():
        of_day = {ratio.at // _DAY: ratio for ratio in (*step.earlier.get(case, ()), newest)}
        days = tuple(of_day.values())
        if any(map(_differs, days)):
            findings.append(ReleaseFinding(step, days, _state(days)))
    order = (State.CONFIRMED, State.UNCONFIRMED, State.REFUTED)
    findings.sort(key=lambda finding: (order.index(finding.state), finding.shown.ratio))
    return tuple(findings)


def _differs(ratio: CaseRatio) -> bool:
    return verdict(ratio) is not Verdict.SAME


def _state(days: tuple[CaseRatio, ...]) -> State:
    newest = days[-1]
    differing = [ratio for ratio in days if _differs(ratio)]
    directions = [verdict(ratio) for ratio in differing]
    if _differs(newest):
        agreeing = directions.count(verdict(newest))
        if agreeing > 1:
            return State.CONFIRMED
        return State.REFUTED if len(differing) > 1 else State.UNCONFIRMED
    low, high = newest.interval
    if not any(low <= ratio.ratio <= high for ratio in differing):
        return State.REFUTED
    agreeing = max(directions.count(direction) for direction in directions)
    return State.CONFIRMED if agreeing > 1 else State.UNCONFIRMED
