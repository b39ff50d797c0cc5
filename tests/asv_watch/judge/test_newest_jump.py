"""Newest runs are a jump where each differs from those before by more than noise, one way."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from asv_watch.judge.suspicions import newest_jump

LEVEL = 7.0


@given(st.floats(0.3, 3.0), st.floats(0.0, 0.2))
def test_a_jump_exceeds_the_least_effect_and_three_times_the_noise(
    ratio: float, noise: float
) -> None:
    size = abs(math.log(ratio))
    limits = math.log(1.015), 3 * noise * math.sqrt(1 + math.pi / 2 / 10)
    assume(all(abs(size - limit) > 1e-9 for limit in limits))
    jump = newest_jump([LEVEL] * 10 + [LEVEL * ratio], noise, 1)
    assert (jump is not None) == (size > max(limits))
    if jump is not None:
        assert jump.before == LEVEL
        assert jump.after == pytest.approx(LEVEL * ratio)


def test_runs_in_both_directions_are_no_jump_and_values_of_zero_have_no_ratio() -> None:
    assert newest_jump([LEVEL] * 10 + [1.2 * LEVEL, 0.8 * LEVEL], 0.5, 2) is None
    assert newest_jump([LEVEL] * 10 + [0.0], 0.01, 1) is None
    both = newest_jump([LEVEL] * 10 + [1.2 * LEVEL, 1.3 * LEVEL], 0.01, 2)
    assert both is not None
    assert both.end - both.position == 2
