"""Peak memory and exact counts of two versions: which changes count."""

from __future__ import annotations

import pytest

from asv_watch.statistics.rule import Verdict, value_ratio, value_verdict
from tests.asv_watch.planted_releases import case_values


@pytest.mark.parametrize(
    ("before", "after", "exact", "verdict"),
    [
        (1000, 1001, True, Verdict.WORSE),
        (1000, 999, True, Verdict.BETTER),
        (1000, 1000, True, Verdict.SAME),
        (0, 3, True, Verdict.WORSE),
        (0, 0, True, Verdict.SAME),
        (1000, 2000, False, Verdict.SAME),
        (None, 1000, True, None),
        ("failed", 1000, True, None),
    ],
)
def test_any_other_count_differs_and_memory_is_not_judged(
    before: float | str | None, after: float, exact: bool, verdict: Verdict | None
) -> None:
    before = float(before) if isinstance(before, int) else before
    values = case_values("a", before, float(after), exact=exact)
    assert value_verdict(values) is verdict
    ratio = value_ratio(values)
    assert ratio == (None if not before or isinstance(before, str) else after / before) or (
        before == after and ratio == 1.0
    )
