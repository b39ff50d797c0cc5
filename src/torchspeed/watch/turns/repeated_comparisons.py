"""How far comparisons of a commit with itself lie apart, and so what a comparison sees.

The same commit on both sides (A/A): whatever their ratio differs from 1 by is noise. Per case,
over several comparisons:

- the **noise** is the standard deviation of the logarithm of the ratio, about its true 0;
- the **worst** ratio is the one farthest from 1;
- the **smallest change seen** is the least slowdown that, put on either side of any of them, is
  called worse (`torchspeed.watch.turns.ratio`).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from torchspeed.watch.analysis.rule import MINIMUM_EFFECT, Verdict
from torchspeed.watch.history.calibrations import CaseTurns, RepeatedComparisons
from torchspeed.watch.turns.ratio import Ratio, compare_sides


def compare_alike(
    seconds: float, cases: Sequence[str], comparisons: Sequence[Sequence[Sequence[float]]]
) -> RepeatedComparisons:
    """Describe what comparisons of a commit with itself come to.

    Args:
        seconds: What they took.
        cases: Their names, one at least.
        comparisons: For each, for each case, the ratio in each of its rounds.

    Raises:
        ValueError: There is no case, or no comparison.
    """
    if not cases or not comparisons:
        raise ValueError("nothing was compared: give a case and a comparison at least")
    ratios = [compare_sides(one) for one in comparisons]
    by_case = {name: [of_one[at] for of_one in ratios] for at, name in enumerate(cases)}
    return RepeatedComparisons(
        repeats=len(comparisons),
        seconds=seconds,
        cases=tuple(_case(name, of_case) for name, of_case in by_case.items()),
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
