"""Changes of one release in groups: times by operator, memory in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from statistics import median

from asv_watch.judge.release_history import ReleaseStep
from asv_watch.site.operators import ReleaseCauses
from asv_watch.site.scripts import Json
from asv_watch.text import quantities
from asv_watch.text.quantities import counted

_LEAST_SHARE = 0.6
"""Memory is one line if this share of the cases moved in one direction."""
_FEWEST_CASES = 3


def release_groups(step: ReleaseStep, index_of: Mapping[str, int], causes: ReleaseCauses) -> Json:
    """Return the cases that a release changed.

    Returns:
        ``differences``: times, those of one operator together, the operator with the largest
        change first and those without one last; ``memory_text``: the changes of memory, in one
        line; ``memory_differences``: case by case.
    """
    differing = {ratio.case: ratio for ratio in step.findings}
    operators = {
        case: causes.operator(step, case, ratio)
        for case, ratio in differing.items()
        if ratio.metric == "time"
    }
    sizes = {case: abs(log(ratio.ratio)) for case, ratio in differing.items()}
    largest: dict[str, float] = {}
    for case, operator in operators.items():
        largest[operator] = max(largest.get(operator, 0.0), sizes[case])
    times = sorted(
        operators,
        key=lambda case: (
            not operators[case], -largest[operators[case]], operators[case], -sizes[case]
        ),
    )  # fmt: skip
    memory = sorted(
        (case for case, ratio in differing.items() if ratio.metric == "memory"),
        key=lambda case: -sizes[case],
    )
    return {
        "differences": [{"case": index_of[case], "operator": operators[case]} for case in times],
        "memory_differences": [index_of[case] for case in memory],
        "memory_text": _memory_text(step, memory),
    }


def _memory_text(step: ReleaseStep, differing: Sequence[str]) -> str:
    count = sum(ratio.metric == "memory" for ratio in step.ratios.values())
    if not count:
        return ""
    if not differing:
        return f"Peak memory: no change in {counted(count, 'case')}."
    ratios = [step.ratios[case] for case in differing]
    grown = [ratio for ratio in ratios if ratio.ratio > 1]
    same_direction = max(grown, [ratio for ratio in ratios if ratio.ratio < 1], key=len)
    if len(same_direction) < _FEWEST_CASES or len(same_direction) < _LEAST_SHARE * count:
        return f"Peak memory: changed in {len(differing)} of {counted(count, 'case')}."
    middle = median(ratio.ratio for ratio in same_direction)
    amount = quantities.quantity(
        median(abs(ratio.after - ratio.before) for ratio in same_direction), "bytes"
    )
    return (
        f"Peak memory: {quantities.change(middle, 'memory')} in {len(same_direction)} of "
        f"{counted(count, 'case')}, {'up' if middle > 1 else 'down'} by {amount} in the median."
    )
