"""Series of ratios to the reference: their values, their errors, and links between references."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.judge.reference_series import reference_series
from asv_watch.records.comparisons import (
    CaseRatio,
    Header,
    Kind,
    StoredComparison,
    Version,
)
from asv_watch.statistics.ratio import estimate_ratio, standard_error


def _version(number: int, torch: str = "2.15.0") -> Version:
    return Version(f"{number:040x}", torch, "0.29.2", "3.11")


def _compared(
    at: int,
    before: Version,
    after: Version,
    ratios: list[float],
    machine: str = "desk",
    kind: Kind = "reference",
) -> StoredComparison:
    header = Header(kind=kind, at=at, machine=machine, before=before, after=after)
    ratio, interval = estimate_ratio(ratios)
    case = CaseRatio("x", at, tuple(ratios), ratio, interval, 1.0, ratio)
    return StoredComparison(Path(), header, (case,), ())


def test_points_hold_the_ratio_and_the_standard_error_of_its_logarithm() -> None:
    ratios = [1.01, 1.02, 1.04, 1.05]
    [series] = reference_series([_compared(5, _version(0), _version(1), ratios)])
    [point] = series.points
    logs = np.log(ratios)
    assert (series.case, series.torch, series.reference) == ("x", "2.15.0", _version(0))
    assert point.ratio == pytest.approx(math.exp(logs.mean()))
    assert point.standard_error == pytest.approx(logs.std(ddof=1) / 2)
    assert (point.link_error, point.at, point.machine) == (0.0, 5, "desk")
    assert point.seconds == pytest.approx(point.ratio)


def test_other_kinds_of_comparisons_are_no_points() -> None:
    comparisons = [
        _compared(1, _version(0), _version(1), [1.0, 1.1], kind=kind)
        for kind in ("compare", "null", "confirm", "release", "bisect")
    ]
    assert reference_series(comparisons) == ()


def test_torch_pairs_have_series_of_their_own_and_machines_share_them() -> None:
    reference = _version(0)
    comparisons = [
        _compared(1, reference, _version(1), [1.0, 1.01]),
        _compared(2, reference, _version(1, "2.14.1"), [1.1, 1.11]),
        _compared(3, reference, _version(2), [1.0, 1.02], "laptop"),
    ]
    older, newer = reference_series(comparisons)
    assert (older.torch, newer.torch) == ("2.14.1", "2.15.0")
    assert [point.machine for point in newer.points] == ["desk", "laptop"]


@given(st.lists(st.floats(-0.5, 0.5), min_size=3, max_size=9), st.data())
def test_all_points_are_ratios_to_the_newest_reference(
    logs: list[float], data: st.DataObject
) -> None:
    """Versions with known logarithms of their speed; the reference is renewed now and then."""
    reference, comparisons = 0, []
    for number in range(1, len(logs)):
        change = logs[number] - logs[reference]
        ratios = [math.exp(change - 0.001), math.exp(change + 0.001)]
        comparisons.append(_compared(number, _version(reference), _version(number), ratios))
        if number < len(logs) - 1 and data.draw(st.booleans()):
            reference = number
    [series] = reference_series(comparisons)
    assert len(series.points) == len(logs) - 1
    for number, point in enumerate(series.points, start=1):
        assert math.log(point.ratio) == pytest.approx(logs[number] - logs[reference], abs=1e-9)
        assert (point.link_error > 0) == (number <= reference)


def test_the_errors_of_links_add_as_variances() -> None:
    first, second, third = (_version(number) for number in range(3))
    comparisons = [
        _compared(1, first, _version(7), [1.0, 1.01]),
        _compared(2, first, second, [1.1, 1.12]),
        _compared(3, second, third, [0.9, 0.93]),
        _compared(4, third, _version(8), [1.0, 1.01]),
    ]
    [series] = reference_series(comparisons)
    links = [
        standard_error(comparison.ratios[0].interval, len(comparison.ratios[0].ratios))
        for comparison in comparisons[1:3]
    ]
    assert series.reference == third
    assert series.points[0].link_error == pytest.approx(math.hypot(*links))
    expected = 1.005 / math.sqrt(1.1 * 1.12) / math.sqrt(0.9 * 0.93)
    assert series.points[0].ratio == pytest.approx(expected, rel=1e-3)


def test_a_machines_own_link_is_preferred_and_another_machines_used_where_it_has_none() -> None:
    old, new = _version(0), _version(1)
    comparisons = [
        _compared(1, old, _version(5), [1.0, 1.0001]),
        _compared(2, old, _version(5), [1.0, 1.0001], "laptop"),
        _compared(3, old, new, [2.0, 2.0001]),
        _compared(4, new, _version(6), [1.0, 1.0001], "laptop"),
    ]
    [series] = reference_series(comparisons)
    assert series.points[1].ratio == pytest.approx(0.5, rel=1e-3)
    [series] = reference_series([*comparisons, _compared(5, old, new, [4.0, 4.0001], "laptop")])
    ratios = {point.machine: point.ratio for point in series.points[:2]}
    assert ratios["laptop"] == pytest.approx(0.25, rel=1e-3)
    assert ratios["desk"] == pytest.approx(0.5, rel=1e-3)


def test_a_point_without_a_link_to_the_newest_reference_is_left_out() -> None:
    comparisons = [
        _compared(1, _version(0), _version(5), [1.0, 1.01]),
        _compared(2, _version(1), _version(6), [1.0, 1.01]),
    ]
    [series] = reference_series(comparisons)
    assert [point.version for point in series.points] == [_version(6)]


def test_the_standard_error_covers_the_truth_as_often_as_it_should() -> None:
    rng = np.random.default_rng(4)
    deviations = []
    for at in range(400):
        ratios = rng.lognormal(math.log(1.05), 0.01, 6).tolist()
        [series] = reference_series([_compared(at, _version(0), _version(1), ratios)])
        [point] = series.points
        deviations.append((math.log(point.ratio) - math.log(1.05)) / point.standard_error)
    covered = np.mean(np.abs(deviations) < 2.571)  # Student's 95 % quantile, 5 degrees of freedom
    assert 0.91 < covered < 0.98
