"""Peak memory and exact counts of torch releases: which changes count."""

from __future__ import annotations

import pytest

from asv_watch.judge.release_values import ValueChange, value_changes
from asv_watch.statistics.rule import Verdict
from tests.asv_watch.planted_releases import COMMIT, release_value


@pytest.mark.parametrize(
    ("before", "after", "exact", "verdict"),
    [
        (1000, 1001, True, Verdict.WORSE),
        (1000, 999, True, Verdict.BETTER),
        (1000, 1000, True, Verdict.SAME),
        (0, 3, True, Verdict.WORSE),
        (0, 0, True, Verdict.SAME),
        (1000, 2000, False, Verdict.SAME),
    ],
)
def test_any_other_count_differs_and_memory_is_not_judged(
    before: float, after: float, exact: bool, verdict: Verdict
) -> None:
    assert ValueChange(before, after, "bytes", exact).verdict is verdict


def test_values_of_releases_are_compared_at_one_commit() -> None:
    other = "f88467d947bd76b543138f63cf54d8005d497177"
    values = [
        release_value("2.1.0", "a", 10),
        release_value("2.2.0", "a", 20, commit=other),
        release_value("2.1.0", "b", 1),
        release_value("2.2.0", "b", 2),
        release_value("2.1.0", "b", 5, commit=other),
        release_value("2.2.0", "b", 6, commit=other),
        release_value("2.1.0", "c", 1),
        release_value("2.2.0", "c", None),
        release_value("2.0.0", "b", 9),
    ]
    changes = value_changes(values, "2.1.0", "2.2.0")
    assert changes == {"b": ValueChange(5, 6, "bytes", exact=False)}
    assert changes["b"].ratio == pytest.approx(1.2)
    assert values[0].commit == COMMIT
    assert ValueChange(0, 3, "blocks", exact=True).ratio is None
