"""What stands for a run's samples: the least, with the fastest quarter beside it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.records.reported_value import report_value

samples = st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=80)


@given(samples)
def test_it_is_the_least_with_the_fastest_quarter(values: list[float]) -> None:
    reported = report_value(values)
    lower, upper = np.quantile(values, (0.25, 0.75))
    assert reported.value == min(values)
    assert reported.quartiles == pytest.approx((lower, upper))
    if len(values) < 8:
        assert reported.interval is None
    else:
        assert reported.interval == (reported.value, reported.quartiles[0])


@given(samples, st.floats(1e-3, 1e3))
def test_it_scales_with_the_samples(values: list[float], factor: float) -> None:
    scaled = report_value([value * factor for value in values])
    assert scaled.value == pytest.approx(report_value(values).value * factor)
    expected = tuple(factor * end for end in report_value(values).quartiles)
    assert scaled.quartiles == pytest.approx(expected)


@given(samples, st.data())
def test_order_does_not_matter(values: list[float], data: st.DataObject) -> None:
    assert report_value(data.draw(st.permutations(values))) == report_value(values)


@given(st.lists(st.floats(1.0, 1.01), min_size=2, max_size=60), st.data())
def test_what_disturbs_all_samples_but_the_least_does_not_move_it(
    values: list[float], data: st.DataObject
) -> None:
    ordered = sorted(values)
    held_up = [value + data.draw(st.floats(0, 100)) for value in ordered[1:]]
    assert report_value([ordered[0], *held_up]).value == report_value(values).value


def test_one_and_two_samples_and_ties() -> None:
    assert report_value([2.0]).quartiles == (2.0, 2.0)
    assert report_value([2.0, 4.0]).quartiles == (2.5, 3.5)
    assert report_value([3.0] * 9).interval == report_value([3.0] * 9).quartiles == (3.0, 3.0)


@pytest.mark.parametrize("values", [[], [1.0, math.nan], [math.inf]])
def test_refuses_what_is_no_measurement(values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"empty|finite"):
        report_value(values)
