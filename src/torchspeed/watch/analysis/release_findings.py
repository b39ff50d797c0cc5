"""What torch releases changed: differences between neighbours, and whether another day shows them.

The newest comparison of each day counts. A difference is *confirmed* where the comparisons of two
days show it in the same direction, and *refuted* where the newest one shows none and its interval
excludes the size of the difference, or shows one in the other direction. Otherwise it is
*unconfirmed*: it was measured on one day only, or the days neither agree nor exclude each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from torchspeed.watch.analysis.changes import State
from torchspeed.watch.analysis.ratio import verdict
from torchspeed.watch.analysis.release_history import ReleaseStep
from torchspeed.watch.analysis.rule import Verdict
from torchspeed.watch.history.comparisons import CaseRatio

_DAY = 86_400  # s


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
    *earlier, newest = days
    others = [ratio for ratio in earlier if _differs(ratio)]
    if not _differs(newest):
        low, high = newest.interval
        excluded = all(not low <= ratio.ratio <= high for ratio in others)
        return State.REFUTED if excluded else State.UNCONFIRMED
    if any(verdict(ratio) is verdict(newest) for ratio in others):
        return State.CONFIRMED
    return State.REFUTED if others else State.UNCONFIRMED
