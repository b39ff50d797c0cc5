from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from torchspeed.watch.analysis import statistics

figures = st.floats(1e-6, 1e6)
samples = st.lists(figures, min_size=1, max_size=60)
with_ties = st.lists(st.integers(1, 5).map(float), min_size=1, max_size=60)
DESCRIPTIONS = [
    statistics.median,
    statistics.median_absolute_deviation,
    lambda values: statistics.quantile(values, 0.3),
    lambda values: statistics.quartiles(values)[1],
    lambda values: statistics.geometric_mean(values).value,
]


@given(samples | with_ties, st.floats(0, 1))
def test_quantile_is_that_of_numpy(values, share):
    assert statistics.quantile(values, share) == pytest.approx(np.quantile(values, share))


@given(samples | with_ties)
def test_median_and_quartiles_are_those_of_numpy(values):
    assert statistics.median(values) == pytest.approx(np.median(values))
    assert statistics.quartiles(values) == pytest.approx(tuple(np.quantile(values, (0.25, 0.75))))


@given(samples | with_ties)
def test_median_absolute_deviation_is_that_of_scipy(values):
    ours = statistics.median_absolute_deviation(values)
    assert ours == pytest.approx(scipy.stats.median_abs_deviation(values), abs=1e-9)
    scaled = scipy.stats.median_abs_deviation(values, scale="normal")
    assert ours * statistics.NORMAL_CONSISTENCY == pytest.approx(scaled, abs=1e-9)


@given(samples | with_ties)
def test_geometric_mean_is_that_of_scipy_and_says_of_how_many(values):
    ours = statistics.geometric_mean(values)
    assert ours.value == pytest.approx(scipy.stats.gmean(values))
    assert ours.count == len(values)


@pytest.mark.parametrize("describe", DESCRIPTIONS)
@given(values=samples, factor=st.floats(1e-3, 1e3))
def test_scale(describe, values, factor):
    scaled = describe([value * factor for value in values])
    assert scaled == pytest.approx(describe(values) * factor, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("describe", DESCRIPTIONS[:1] + DESCRIPTIONS[2:4])
@given(
    values=samples | with_ties,
    shift=st.floats(-1e3, 1e3),
)
def test_shift_moves_a_location(describe, values, shift):
    shifted = describe([value + shift for value in values])
    assert shifted == pytest.approx(describe(values) + shift, rel=1e-6, abs=1e-6)


@given(values=samples, shift=st.floats(-1e3, 1e3))
def test_shift_leaves_a_spread(values, shift):
    shifted = statistics.median_absolute_deviation([value + shift for value in values])
    assert shifted == pytest.approx(
        statistics.median_absolute_deviation(values), rel=1e-6, abs=1e-6
    )


@pytest.mark.parametrize("describe", DESCRIPTIONS)
@given(data=st.data(), values=samples | with_ties)
def test_permutation_changes_nothing(describe, data, values):
    assert describe(data.draw(st.permutations(values))) == describe(values)


@pytest.mark.parametrize("describe", DESCRIPTIONS)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_refuses_what_is_not_finite(describe, bad):
    with pytest.raises(ValueError, match="finite"):
        describe([1.0, bad, 2.0])


@pytest.mark.parametrize("describe", DESCRIPTIONS)
def test_refuses_nothing(describe):
    with pytest.raises(ValueError, match="empty"):
        describe([])


@given(samples, st.floats(0.5, 2.0))
def test_geometric_mean_of_powers_is_the_power(values, exponent):
    powered = statistics.geometric_mean([value**exponent for value in values]).value
    assert powered == pytest.approx(statistics.geometric_mean(values).value ** exponent)


@given(figures)
def test_one_value(value):
    assert statistics.median([value]) == value
    assert statistics.quartiles([value]) == (value, value)
    assert statistics.median_absolute_deviation([value]) == 0
    assert statistics.geometric_mean([value]).value == pytest.approx(value)


@given(figures, figures)
def test_two_values(first, second):
    assert statistics.median([first, second]) == pytest.approx((first + second) / 2)
    assert statistics.median_absolute_deviation([first, second]) == pytest.approx(
        abs(first - second) / 2, abs=1e-9
    )


@given(samples)
def test_geometric_mean_of_inverses_is_the_inverse(values):
    inverse = statistics.geometric_mean([1 / value for value in values]).value
    assert inverse * statistics.geometric_mean(values).value == pytest.approx(1)


@pytest.mark.parametrize("bad", [0.0, -1.0])
def test_geometric_mean_refuses_what_has_no_logarithm(bad):
    with pytest.raises(ValueError, match="positive"):
        statistics.geometric_mean([1.0, bad])


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_quantile_refuses_what_is_no_share(share):
    with pytest.raises(ValueError, match="between 0 and 1"):
        statistics.quantile([1.0], share)
