"""Costs are what copies, products and dispatches take, measured when asked."""

from __future__ import annotations

import statistics
import time

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.gpu import needs_gpu
from torchspeed.measure import costs
from torchspeed.measure.costs import (
    LARGEST_TRAFFIC,
    SMALLEST_TRAFFIC,
    CostMeter,
    Costs,
    traffic_class,
)
from torchspeed.measure.operations import Product
from torchspeed.measure.peak import Peak
from torchspeed.measure.work import count

PRODUCT = Product(4, 64, 32, 48)


@pytest.fixture(scope="module")
def meter() -> CostMeter:
    torch.set_num_threads(1)
    return CostMeter(Peak("cpu", sizes=[128]), [2**20, 0], [PRODUCT])


def test_products_and_copies_take_what_they_take_by_hand(meter: CostMeter) -> None:
    left, right = torch.randn(4, 64, 32), torch.randn(4, 32, 48)
    source, target = torch.zeros(2, 2**17)
    by_hand: list[tuple[float, float]] = []
    measured: list[Costs] = []
    for _ in range(5):  # in turn: the best of each is little touched by other load
        measured.append(meter.measure())
        begun = time.process_time()
        for _ in range(300):
            torch.bmm(left, right)
        middle = time.process_time()
        for _ in range(300):
            target.copy_(source)
        by_hand.append(((middle - begun) / 300, (time.process_time() - middle) / 300))
    dispatch = min(costs.dispatch_seconds for costs in measured)
    product, copy = (min(seconds) for seconds in zip(*by_hand, strict=True))
    assert 1e-7 < dispatch < 1e-4
    multiplying = min(costs.multiplying({PRODUCT: 3}, 0) for costs in measured) / 3
    assert 0.4 < (dispatch + multiplying) / product < 1.5
    moving = min(costs.moving(2**20) for costs in measured)
    assert 0.5 < (dispatch + moving) / copy < 1.8


def test_other_flops_run_at_the_peak_rate_and_nothing_moves_for_nothing() -> None:
    known = Costs(1e-6, {SMALLEST_TRAFFIC: 1e11}, {PRODUCT: 2e-6}, flops_per_second=1e9)
    assert known.multiplying({PRODUCT: 2}, 500) == pytest.approx(2 * 2e-6 + 500 / 1e9)
    assert known.moving(1000) == pytest.approx(1000 / 1e11)
    assert known.moving(0) == 0


def test_the_peak_is_that_of_products_or_of_convolutions(
    meter: CostMeter, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = count(costs._convolution(torch.device("cpu"))).flops
    assert counted == costs.CONVOLUTION_FLOPS
    rates = [meter.measure().flops_per_second / meter._peak.measure() for _ in range(3)]
    assert 0.6 < statistics.median(rates) < 4
    monkeypatch.setattr(meter._peak, "measure", lambda: 0.0)
    assert 1e8 < meter.measure().flops_per_second < 1e13


@given(moved_bytes=st.integers(1, 2**40))
def test_traffic_is_of_the_nearest_size_that_is_measured(moved_bytes: int) -> None:
    size = traffic_class(moved_bytes)
    assert size == SMALLEST_TRAFFIC or size <= moved_bytes * 2**0.51
    assert size == LARGEST_TRAFFIC or size >= moved_bytes / 2**0.51


@needs_gpu
def test_costs_of_a_cuda_device_are_measured_on_it() -> None:
    meter = CostMeter(Peak("cuda", sizes=[1024]), [2**26], [Product(1, 512, 512, 512)])
    assert 0 < meter.measure().moving(2**26) < 1
