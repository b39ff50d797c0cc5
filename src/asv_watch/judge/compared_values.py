"""Peak memory and exact counts of two versions, of which each side has one value.

An exact count differs where it is another number. Peak memory is not judged here: one process
measured it, and it varies from process to process by less than 0.1 % in some cases and by 12 % in
others. Where several processes measured it, its ratio has an interval as those of times have.
"""

from __future__ import annotations

from asv_watch.records.comparisons import CaseValues
from asv_watch.statistics.rule import Verdict


def value_ratio(values: CaseValues) -> float | None:
    """Return after over before; ``None`` from zero to anything else, and where one is missing."""
    before, after = values.before, values.after
    if not isinstance(before, float) or not isinstance(after, float):
        return None
    if after == before:
        return 1.0
    return after / before if before else None


def value_verdict(values: CaseValues) -> Verdict | None:
    """Tell whether an exact count is more than before (`WORSE`), less (`BETTER`), or `SAME`.

    ``None`` where a side has no value.
    """
    before, after = values.before, values.after
    if not isinstance(before, float) or not isinstance(after, float):
        return None
    if not values.exact or after == before:
        return Verdict.SAME
    return Verdict.WORSE if after > before else Verdict.BETTER
