"""What stands for a run's samples: the lower quartile, with the interval that belongs to it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchspeed.history.figure import figure_of

samples = st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=80)


@given(samples)
def test_it_is_the_lower_quartile_with_both_quartiles(values):
    found = figure_of(values)
    assert found.quartiles == pytest.approx(tuple(np.quantile(values, (0.25, 0.75))))
    assert found.value == found.quartiles[0]


@given(st.lists(st.floats(1e-6, 1e3), min_size=19, max_size=80))
def test_it_lies_in_its_interval(values):
    found = figure_of(values)
    assert found.interval[0] <= found.value <= found.interval[1]


@given(samples, st.floats(1e-3, 1e3))
def test_it_scales_with_the_samples(values, factor):
    scaled = figure_of([value * factor for value in values])
    assert scaled.value == pytest.approx(figure_of(values).value * factor)


@given(samples, st.data())
def test_order_does_not_matter(values, data):
    assert figure_of(data.draw(st.permutations(values))) == figure_of(values)


@given(st.lists(st.floats(1.0, 1.01), min_size=20, max_size=60), st.data())
def test_what_disturbs_half_of_the_samples_stays_out(values, data):
    """However much the slower half was held up, the figure is among the quiet half."""
    ordered = sorted(values)
    half = len(ordered) // 2
    held_up = [value + data.draw(st.floats(0, 100)) for value in ordered[half:]]
    assert figure_of(ordered[:half] + held_up).value == figure_of(values).value


def test_one_and_two_samples():
    assert figure_of([2.0]).value == 2.0
    assert figure_of([2.0, 4.0]).value == 2.5
    assert figure_of([2.0]).interval is None


@pytest.mark.parametrize("values", [[], [1.0, math.nan], [math.inf]])
def test_refuses_what_is_no_measurement(values):
    with pytest.raises(ValueError, match=r"empty|finite"):
        figure_of(values)


def test_the_interval_covers_the_true_quartile_as_often_as_it_says():
    rng = np.random.default_rng(4)
    true = math.exp(0.05 * -0.6744897501960817)  # of a lognormal with sigma 0.05
    covered = sum(
        low <= true <= high
        for low, high in (figure_of(rng.lognormal(0, 0.05, 30)).interval for _ in range(500))
    )
    # Of 500 at 99 % or a little more: four standard deviations are 9.
    assert covered >= 486
