"""What releases changed: cases that differ between neighbours, and on how many days they did.

The newest comparison of each day counts. A difference is *measured* where a day shows it, and
*refuted* where a newer one shows none and its interval excludes what every earlier day showed. A
second day in the same direction shows that one day's machine did not make the difference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from asv_watch.judge.release_history import ReleaseStep
from asv_watch.records.comparisons import CaseRatio
from asv_watch.statistics.rule import Verdict, verdict

_DAY = 86_400  # s


@dataclass(frozen=True, slots=True)
class ReleaseFinding:
    """A case that differs between two releases on one day at least."""

    case: str
    """As asv names it."""
    days: tuple[CaseRatio, ...]
    """The newest comparison of each day (UTC), oldest first."""

    @property
    def shown(self) -> CaseRatio:
        """The newest comparison that shows a difference."""
        return next(ratio for ratio in reversed(self.days) if _differs(ratio))

    @property
    def agreeing(self) -> int:
        """On how many days it differs in the direction that is shown."""
        return [verdict(ratio) for ratio in self.days].count(verdict(self.shown))

    @property
    def is_refuted(self) -> bool:
        """Whether the newest day shows no difference and excludes those of all earlier days."""
        low, high = self.days[-1].interval
        earlier = [ratio.ratio for ratio in self.days if _differs(ratio)]
        return not any(low <= ratio <= high for ratio in earlier)

    @property
    def uncertainty(self) -> tuple[int, float]:
        """Sort key: differing days, then the distance of the interval from 1, both negative."""
        return (-self.agreeing, -min(abs(math.log(end)) for end in self.shown.interval))

    @property
    def state(self) -> str:
        """Whether it is measured, and on how many days."""
        if self.is_refuted:
            return "refuted"
        days = "1 day" if len(self.days) == 1 else f"{self.agreeing} of {len(self.days)} days"
        return f"measured on {days}"


def release_findings(step: ReleaseStep) -> tuple[ReleaseFinding, ...]:
    """List the cases that differ between two releases, the most certain first.

    That is the one that differs on most days, then the one whose interval lies farthest from 1.
    """
    findings = []
    for case, newest in step.ratios.items():
        of_day = {ratio.at // _DAY: ratio for ratio in (*step.earlier.get(case, ()), newest)}
        days = tuple(of_day.values())
        if any(map(_differs, days)):
            findings.append(ReleaseFinding(case, days))
    findings.sort(key=lambda found: (found.is_refuted, *found.uncertainty))
    return tuple(findings)


def _differs(ratio: CaseRatio) -> bool:
    return verdict(ratio) is not Verdict.SAME
