from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asv_watch.site.stored_numbers import whole_numbers


@settings(deadline=None)
@given(
    st.lists(st.integers(-99_999, 99_999), min_size=1),
    st.integers(0, 17) | st.integers(-5, -1),
)
def test_values_of_five_digits_are_stored_without_loss(digits: list[int], decimals: int) -> None:
    values = np.array([float(f"{number}e{-decimals}") for number in digits])
    whole = whole_numbers(values)
    assert whole is not None
    stored = [(whole.middle + number) / 10**whole.decimals for number in whole.numbers.tolist()]
    assert stored == values.tolist()


@pytest.mark.parametrize("value", [0.123456789, 1e-300, 1e300])
def test_other_values_are_stored_as_they_are(value: float) -> None:
    assert whole_numbers(np.array([1.0, value])) is None
