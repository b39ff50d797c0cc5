from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from torchspeed.watch.analysis.false_discovery import benjamini_hochberg
from torchspeed.watch.analysis.rank_test import mann_whitney

figures = st.floats(0.1, 10.0)
small = st.lists(figures, min_size=1, max_size=25)
tied = st.lists(st.integers(1, 4).map(float), min_size=2, max_size=25)
# Far enough apart that their ratios differ by more than a rounding error.
apart = st.lists(st.integers(1, 2000).map(float), min_size=6, max_size=20, unique=True)
large = st.lists(figures, min_size=35, max_size=60, unique=True)


@given(st.lists(figures, min_size=2, max_size=40, unique=True), st.data())
def test_without_ties_it_is_the_exact_test_of_scipy(values, data):
    cut = data.draw(st.integers(1, len(values) - 1))
    x, y = values[:cut], values[cut:]
    expected = scipy.stats.mannwhitneyu(x, y, method="exact").pvalue
    assert mann_whitney(x, y) == pytest.approx(expected, rel=1e-9)


@given(tied, tied)
def test_with_ties_it_is_the_corrected_normal_test_of_scipy(x, y):
    assume(len({*x, *y}) < len(x) + len(y))
    expected = scipy.stats.mannwhitneyu(x, y, method="asymptotic").pvalue
    # scipy divides zero by zero where every value is the same.
    expected = 1.0 if math.isnan(expected) else expected
    assert mann_whitney(x, y) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@given(large, large)
@settings(max_examples=30)
def test_for_many_values_it_is_the_normal_test_of_scipy(x, y):
    expected = scipy.stats.mannwhitneyu(x, y, method="asymptotic").pvalue
    assert mann_whitney(x, y) == pytest.approx(expected, rel=1e-9, abs=1e-300)


# Largest U with a two-sided p of at most 0.05: Mann and Whitney (1947) as tabulated by
# Siegel (1956), table K, for m = n.
@pytest.mark.parametrize(("size", "critical"), [(4, 0), (5, 2), (6, 5), (7, 8), (8, 13), (10, 23)])
def test_critical_values_are_the_published_ones(size, critical):
    def p_of(u):
        # x below all of y but for u pairs that are the other way round.
        full, rest = divmod(u, size)
        y = [float(2 * place) for place in range(1, size + 1)]
        x = [-float(place) for place in range(1, size + 1)]
        for place in range(full):
            x[place] = 1000.0 + place
        if rest:
            x[full] = 2 * rest + 1
        return mann_whitney(x, y)

    assert p_of(critical) <= 0.05 < p_of(critical + 1)


# Permeability of the chorioamnion, at term and at 12 to 26 weeks: Hollander, Wolfe and Chicken
# (2013), examples 4.1, 4.3 and 4.4; the help page of R's wilcox.test has p = 0.1272, one-sided.
AT_TERM = (0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46)
EARLIER = (1.15, 0.88, 0.90, 0.74, 1.21)


def test_the_textbook_example():
    assert mann_whitney(AT_TERM, EARLIER) == pytest.approx(2 * 0.1272, abs=1e-4)


@given(small | tied, small | tied)
def test_order_of_the_samples_and_in_them_does_not_matter(x, y):
    p = mann_whitney(x, y)
    assert 0 < p <= 1
    assert mann_whitney(y, x) == pytest.approx(p)
    assert mann_whitney(x[::-1], sorted(y)) == pytest.approx(p)


@given(small | tied, small | tied, st.sampled_from([0.25, 8.0]))
def test_scale_and_any_growing_function_leave_p(x, y, factor):
    p = mann_whitney(x, y)
    assert mann_whitney([v * factor for v in x], [v * factor for v in y]) == pytest.approx(p)
    assert mann_whitney(
        [v + 16.0 for v in np.round(x, 3)], [v + 16.0 for v in np.round(y, 3)]
    ) == (pytest.approx(mann_whitney(list(np.round(x, 3)), list(np.round(y, 3)))))


def test_alike_samples_have_p_one():
    assert mann_whitney([2.0] * 5, [2.0] * 7) == 1
    assert mann_whitney([1.0], [1.0]) == 1


def test_one_value_each_never_tells_anything():
    assert mann_whitney([1.0], [100.0]) == 1


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_refuses_what_is_not_finite(bad):
    with pytest.raises(ValueError, match="finite"):
        mann_whitney([1.0, bad], [1.0])
    with pytest.raises(ValueError, match="finite"):
        mann_whitney([1.0], [bad])
    with pytest.raises(ValueError, match="empty"):
        mann_whitney([], [1.0])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_adjusted_p_values_are_those_of_scipy(p_values):
    expected = scipy.stats.false_discovery_control(p_values)
    assert benjamini_hochberg(p_values) == pytest.approx(list(expected))


# Benjamini and Hochberg (1995), section 3.2: with q = 0.05 four of these fifteen are rejected.
def test_adjusted_p_values_of_the_paper():
    p_values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459]
    p_values += [0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    adjusted = benjamini_hochberg(p_values)
    assert [p <= 0.05 for p in adjusted] == [True] * 4 + [False] * 11


@given(st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.2, 1.0]), max_size=20), st.data())
def test_adjusted_p_values_follow_their_order_and_only_grow(p_values, data):
    adjusted = benjamini_hochberg(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
    order = data.draw(st.permutations(range(len(p_values))))
    assert benjamini_hochberg([p_values[i] for i in order]) == [adjusted[i] for i in order]
    by_p = sorted(zip(p_values, adjusted, strict=True))
    assert [q for _, q in by_p] == sorted(adjusted)


def test_adjusted_p_values_of_two():
    assert benjamini_hochberg([0.01, 0.02]) == [0.02, 0.02]
    assert benjamini_hochberg([0.5, 0.01]) == [0.5, 0.02]
    assert benjamini_hochberg([0.03, 0.03]) == [0.03, 0.03]


def test_adjusted_p_values_of_none_and_one():
    assert benjamini_hochberg([]) == []
    assert benjamini_hochberg([0.03]) == [0.03]


@pytest.mark.parametrize("bad", [math.nan, -0.1, 1.1])
def test_what_is_no_probability_is_refused(bad):
    with pytest.raises(ValueError, match="no probability"):
        benjamini_hochberg([0.5, bad])
