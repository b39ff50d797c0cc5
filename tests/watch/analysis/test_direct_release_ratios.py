"""Chains of releases are checked where a release was compared with the newest one directly."""

from __future__ import annotations

import pytest

from tests.watch.planted_releases import compared_releases
from torchspeed.watch.analysis.direct_release_ratios import direct_ratios
from torchspeed.watch.analysis.release_history import release_histories


@pytest.mark.parametrize(("direct", "agrees"), [(0.72, True), (0.74, True), (0.8, False)])
def test_a_direct_ratio_agrees_where_the_chain_is_within_both_intervals(
    direct: float, agrees: bool
) -> None:
    [history] = release_histories(
        {
            "ci-2core": [
                compared_releases("2.8.0", "2.9.1", {"a": 0.9, "b": 0.9}),
                compared_releases("2.9.1", "2.10.0", {"a": 0.8}),
                compared_releases("2.8.0", "2.10.0", {"a": direct, "b": 0.9}),
            ]
        }
    )
    [ratio] = direct_ratios(history, "a")
    assert (ratio.direct.release, ratio.agrees) == ("2.8.0", agrees)
    assert ratio.direct.ratio == pytest.approx(1 / direct)
    assert ratio.direct.interval[0] == pytest.approx(1 / direct / 1.02)
    assert ratio.chained.ratio == pytest.approx(1 / 0.72)
    assert ratio.quotient == pytest.approx(direct / 0.72)
    assert direct_ratios(history, "b") == (), "no chain leads to it"
