"""How far sides of one commit lie apart when they take turns, and so what a comparison sees.

The same commit on every side (A/A): whatever their ratios differ from 1 by is noise. Per case,
over all pairs of sides:

- the **noise** is the standard deviation of the logarithm of the ratio, about its true 0;
- the **worst** ratio is the one farthest from 1;
- the **smallest change seen** is the least slowdown that, put on either side of any pair, is
  called worse (`torchspeed.history.side_by_side`).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torchspeed.history.change_points import MINIMUM_EFFECT
from torchspeed.history.compare import Verdict
from torchspeed.history.noise import noise_together
from torchspeed.history.side_by_side import Ratio, compare_sides


@dataclass(frozen=True, slots=True)
class CaseTurns:
    """One case on several sides of one commit."""

    case: str
    rounds: int
    noise: float
    """Standard deviation of the logarithm of the ratio of two sides (0.01 is 1 %)."""
    worst: float
    """How far the ratio farthest from 1 lies from it, as the slower over the faster."""
    sees: float
    """Smallest relative slowdown found on either side of every pair."""


@dataclass(frozen=True, slots=True)
class RepeatedSides:
    """All cases that have a figure on every side."""

    sides: int
    seconds: float
    """What all rounds took."""
    cases: tuple[CaseTurns, ...]
    comparisons: int
    """Of every case on every pair of sides."""
    false_alarms: int
    """How many of them are called a difference."""

    @property
    def noise(self) -> float:
        """Of all cases together: the root of the mean square."""
        return noise_together([one.noise for one in self.cases])

    @property
    def worst(self) -> float:
        """Of all cases."""
        return max(one.worst for one in self.cases)


def compare_alike(
    sides: int, seconds: float, cases: Sequence[str], pairs: Sequence[Sequence[Sequence[float]]]
) -> RepeatedSides:
    """Describe what sides of one commit differ by.

    Args:
        sides: How many there were.
        seconds: What all rounds took.
        cases: Their names, one at least.
        pairs: For each pair of sides, for each case, the ratio in each of its rounds.

    Raises:
        ValueError: There is no case, or no pair.
    """
    if not cases or not pairs:
        raise ValueError("nothing was compared: give a case and two sides at least")
    ratios = [compare_sides(one) for one in pairs]
    by_case = {name: [of_pair[at] for of_pair in ratios] for at, name in enumerate(cases)}
    return RepeatedSides(
        sides=sides,
        seconds=seconds,
        cases=tuple(_case(name, of_case) for name, of_case in by_case.items()),
        comparisons=len(cases) * len(pairs),
        false_alarms=_false_alarms(by_case),
    )


def _case(name: str, ratios: Sequence[Ratio]) -> CaseTurns:
    logs = [math.log(ratio.value) for ratio in ratios]
    reaches = [math.log(ratio.interval[1] / ratio.value) for ratio in ratios]
    smallest = math.log1p(MINIMUM_EFFECT)
    return CaseTurns(
        case=name,
        rounds=ratios[0].rounds,
        noise=math.sqrt(statistics.fmean(log**2 for log in logs)),
        worst=math.expm1(max(map(abs, logs))),
        sees=math.expm1(
            max(max(reach, smallest) + abs(log) for log, reach in zip(logs, reaches, strict=True))
        ),
    )


def _false_alarms(by_case: Mapping[str, Sequence[Ratio]]) -> int:
    return sum(
        ratio.verdict is not Verdict.SAME for ratios in by_case.values() for ratio in ratios
    )
