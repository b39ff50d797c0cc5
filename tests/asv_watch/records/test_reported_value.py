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


@pytest.mark.parametrize("values", [[], [1.0, math.nan], [math.inf]])
def test_refuses_what_is_no_measurement(values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"empty|finite"):
        report_value(values)
