"""Releases compared directly with one later release, instead of through the releases between.

A chain multiplies the ratios of neighbouring releases, so its interval widens, and a small error
of the method that has the same sign in each of them would grow along it. A direct comparison has
neither flaw, and shows whether the chain has the second.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from asv_watch.judge.release_history import (
    RelativeTime,
    ReleaseHistory,
    ReleaseStep,
    chain,
)
from asv_watch.records.comparisons import CaseRatio
from asv_watch.records.release_order import release_order


@dataclass(frozen=True, slots=True)
class DirectRatio:
    """Time of a case in a release over that in an earlier one, by two ways."""

    ratio: CaseRatio
    """Measured interleaved."""
    chained: RelativeTime | None
    """The product of neighbours' ratios, earlier over later; ``None`` where no chain joins the two
    releases, or where they are neighbours."""

    @property
    def quotient(self) -> float | None:
        """The chain's ratio over the measured one, both later over earlier."""
        return None if self.chained is None else 1 / self.chained.ratio / self.ratio.ratio

    @property
    def agrees(self) -> bool | None:
        """Whether the confidence interval (99 %) of the quotient includes 1."""
        if self.chained is None or self.quotient is None:
            return None
        reaches = [math.log(way.interval[1] / way.ratio) for way in (self.chained, self.ratio)]
        return abs(math.log(self.quotient)) <= math.hypot(*reaches)


def direct_steps(history: ReleaseHistory) -> tuple[ReleaseStep, ...]:
    """Return the comparisons with the release that most others were compared with directly.

    Returns:
        That with its neighbour first, then with older and older releases; empty where only
        neighbours were compared. Of several such releases the newest is chosen.
    """
    neighbours = history.neighbours
    counts = Counter(
        step.after
        for step in history.steps
        if step not in neighbours and step.after != history.development
    )
    if not counts:
        return ()
    common = max(counts, key=lambda release: (counts[release], release_order(release)))
    return tuple(step for step in history.steps if step.after == common)


def direct_ratios(
    history: ReleaseHistory, steps: Sequence[ReleaseStep], case: str
) -> dict[str, DirectRatio]:
    """Map each earlier release to what was measured directly of a case.

    Args:
        history: of the releases.
        steps: its `direct_steps`.
        case: as asv names it.
    """
    ratios = {step.before: step.ratios[case] for step in steps if case in step.ratios}
    if not ratios:
        return {}
    later = steps[0].after
    neighbour = history.releases[history.releases.index(later) - 1]
    chained = {time.release: time for time in chain(history, case, later)}
    return {
        release: DirectRatio(ratio, None if release == neighbour else chained.get(release))
        for release, ratio in ratios.items()
    }


def relative_times(history: ReleaseHistory, case: str) -> tuple[RelativeTime, ...]:
    """Return times of a case in each release relative to the newest one.

    Where a release was compared with the newest one it is that ratio, elsewhere the chain's.

    Returns:
        The oldest release first; empty where neither leads to any.
    """
    newest = history.releases[-1]
    times = {time.release: time for time in chain(history, case, newest)}
    for step in history.steps:
        ratio = step.ratios.get(case)
        if ratio is not None and step.after == newest:
            low, high = ratio.interval
            times[newest] = RelativeTime(newest, 1.0, (1.0, 1.0))
            times[step.before] = RelativeTime(
                step.before, 1 / ratio.ratio, (1 / high, 1 / low), is_direct=True
            )
    return tuple(times[release] for release in history.releases if release in times)
