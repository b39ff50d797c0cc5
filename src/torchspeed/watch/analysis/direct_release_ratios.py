"""Releases compared directly with the newest one, as a check of the chain of neighbours' ratios.

A chain multiplies the ratios of neighbouring releases, so a small error of the method that has the
same sign in each of them would grow along it. It would show where a release was compared with the
newest one directly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from torchspeed.watch.analysis.release_history import (
    ChainRatio,
    ReleaseHistory,
    ReleaseStep,
    chain,
)


@dataclass(frozen=True, slots=True)
class DirectRatio:
    """Time of a case in a release over that in the newest one, by two ways."""

    step: ReleaseStep
    """The direct comparison."""
    chained: ChainRatio
    """The product of the ratios of neighbours."""
    direct: ChainRatio
    """Measured interleaved with the newest release."""

    @property
    def quotient(self) -> float:
        """The chained ratio over the direct one."""
        return self.chained.ratio / self.direct.ratio

    @property
    def agrees(self) -> bool:
        """Whether the confidence interval (99 %) of the quotient includes 1."""
        reaches = [math.log(way.interval[1] / way.ratio) for way in (self.chained, self.direct)]
        return abs(math.log(self.quotient)) <= math.hypot(*reaches)


def direct_ratios(history: ReleaseHistory, case: str) -> tuple[DirectRatio, ...]:
    """Return what was measured directly of a case, where a chain leads to the release too.

    Returns:
        The newest release first.
    """
    chained = {link.release: link for link in chain(history, case)}
    *_, newest = history.releases
    ratios = []
    for step in history.steps:
        ratio = step.ratios.get(case)
        is_neighbour = (step.before, newest) == history.releases[-2:]
        if ratio is None or step.after != newest or is_neighbour or step.before not in chained:
            continue
        low, high = ratio.interval
        direct = ChainRatio(step.before, 1 / ratio.ratio, (1 / high, 1 / low))
        ratios.append(DirectRatio(step, chained[step.before], direct))
    return tuple(ratios)
