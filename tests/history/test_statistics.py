from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from asv_runner.statistics import quantile_ci
from hypothesis import given
from hypothesis import strategies as st

from torchspeed.history import statistics

figures = st.floats(1e-6, 1e6)
samples = st.lists(figures, min_size=1, max_size=60)
with_ties = st.lists(st.integers(1, 5).map(float), min_size=1, max_size=60)
DESCRIPTIONS = [
    statistics.median,
    statistics.median_absolute_deviation,
    lambda values: statistics.quantile(values, 0.3),
    lambda values: statistics.quartiles(values)[1],
    lambda values: (statistics.quantile_interval(values, 0.5) or (0.0, 0.0))[0],
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


# Number of values, rank of the lower end: table of the sign test at 1 % (two-sided), as in
# Hollander, Wolfe and Chicken (2013), table A.2, and most textbooks.
@pytest.mark.parametrize(
    ("count", "rank"), [(8, 1), (10, 1), (12, 2), (15, 3), (20, 4), (25, 6), (30, 8), (40, 12)]
)
def test_median_interval_takes_the_published_ranks(count, rank):
    interval = statistics.quantile_interval(list(range(1, count + 1)), 0.5)
    assert interval == (rank, count + 1 - rank)


@given(st.lists(figures, min_size=8, max_size=60, unique=True), st.floats(0.05, 0.95))
def test_quantile_interval_covers_what_it_says_and_no_more_ranks_than_needed(values, share):
    interval = statistics.quantile_interval(values, share)
    chance_below = scipy.stats.binom(len(values), share).cdf  # that so many lie below it at most
    count, ordered = len(values), sorted(values)
    if interval is None:
        assert chance_below(0) > 0.005 - 1e-12 or 1 - chance_below(count - 1) > 0.005 - 1e-12
        return
    low, high = map(ordered.index, interval)
    assert chance_below(low) <= 0.005 + 1e-12 < chance_below(low + 1) + 1e-9
    assert 1 - chance_below(high) <= 0.005 + 1e-12 < 1 - chance_below(high - 1) + 1e-9


@given(st.lists(figures, min_size=19, max_size=60, unique=True))
def test_quantile_interval_is_that_of_scipy(values):
    ours = statistics.quantile_interval(values, 0.25)
    theirs = scipy.stats.quantile_test(values, p=0.25).confidence_interval(0.99)
    assert ours == (theirs.low, theirs.high)


@given(st.lists(figures, min_size=8, max_size=60, unique=True))
def test_median_interval_agrees_with_asv_to_one_rank(values):
    # asv's upper end is one rank further out where it can be: it is the more careful one.
    ordered = sorted(values)
    lower, upper = statistics.quantile_interval(values, 0.5)
    _, (asv_lower, asv_upper) = quantile_ci(values, 0.5)
    assert asv_lower == lower
    assert asv_upper in ordered[ordered.index(upper) - 1 : ordered.index(upper) + 2]


@pytest.mark.parametrize("count", range(1, 19))
def test_interval_of_too_few_values_is_none(count):
    assert statistics.quantile_interval([1.0] * count, 0.25) is None
    assert (statistics.quantile_interval([1.0] * count, 0.5) is None) == (count < 8)


@pytest.mark.parametrize("describe", DESCRIPTIONS)
@given(values=samples, factor=st.floats(1e-3, 1e3))
def test_scale(describe, values, factor):
    scaled = describe([value * factor for value in values])
    assert scaled == pytest.approx(describe(values) * factor, rel=1e-6, abs=1e-9)


# An interval of too few values is none, and none cannot be shifted.
@pytest.mark.parametrize("describe", DESCRIPTIONS[:1] + DESCRIPTIONS[2:5])
@given(
    values=st.lists(figures, min_size=8, max_size=60) | st.just([1.0] * 9),
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


@given(st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=8, max_size=60))
def test_quantile_interval_counts_ties_like_any_other_values(values):
    ordered = sorted(values)
    lowest, highest = map(int, statistics.quantile_interval(list(range(len(values))), 0.5))
    assert statistics.quantile_interval(values, 0.5) == (ordered[lowest], ordered[highest])


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


@pytest.mark.parametrize("outside", [0.0, 1.0, 99.0, math.nan])
def test_quantile_interval_refuses_what_is_no_share_or_confidence(outside):
    for arguments in ((outside, 0.99), (0.5, outside)):
        with pytest.raises(ValueError, match="between 0 and 1"):
            statistics.quantile_interval([1.0] * 20, *arguments)
