"""A floor is the sum that docs/notes/floor.md writes down, measured together with its pass."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.measure.simulated_machine import SimulatedMachine
from torchspeed.measure import floor
from torchspeed.measure.costs import Costs
from torchspeed.measure.floor import (
    PassWork,
    compiled_floor,
    eager_floor,
    floor_of,
    pass_works,
)
from torchspeed.measure.operations import Operation, Product
from torchspeed.measure.peak import Peak
from torchspeed.measure.work import work_of

PRODUCT = Product(1, 8, 4, 2)
COSTS = Costs(
    dispatch_seconds=1.0,
    bytes_per_second={2**16: 10.0},
    product_seconds={PRODUCT: 7.0},
    flops_per_second=100.0,
)


def test_a_floor_is_a_dispatch_and_the_larger_of_arithmetic_and_traffic() -> None:
    operations = [
        Operation("aten::mm", {PRODUCT: 1}, other_flops=0, moved_bytes=20),  # 7 s before 2 s
        Operation("aten::convolution", {}, other_flops=300, moved_bytes=20),  # 3 s before 2 s
        Operation("aten::add", {}, other_flops=0, moved_bytes=50),  # 5 s
    ]
    assert eager_floor(PassWork(operations, 0), COSTS) == pytest.approx(
        (1 + 7) + (1 + 3) + (1 + 5)
    )
    # Compiled it is one call, and what lies between operators is not moved.
    assert compiled_floor(PassWork(operations, 90), COSTS) == pytest.approx(1 + (7 + 3))
    assert compiled_floor(PassWork(operations, 110), COSTS) == pytest.approx(1 + 11)


@pytest.mark.parametrize(("dispatch", "eager"), [(1.0, 7 + 3 + 5), (9.0, 3 * 9)])
def test_on_a_gpu_the_floor_is_the_longer_of_dispatches_and_work(
    dispatch: float, eager: float
) -> None:
    on_gpu = dataclasses.replace(COSTS, dispatch_seconds=dispatch, overlaps=True)
    operations = [
        Operation("aten::mm", {PRODUCT: 1}, other_flops=0, moved_bytes=20),
        Operation("aten::convolution", {}, other_flops=300, moved_bytes=20),
        Operation("aten::add", {}, other_flops=0, moved_bytes=50),
    ]
    assert eager_floor(PassWork(operations, 0), on_gpu) == pytest.approx(eager)
    assert compiled_floor(PassWork(operations, 110), on_gpu) == pytest.approx(11)


def test_what_a_pass_must_move_is_counted_by_hand() -> None:
    forward, backward = pass_works("lenet5", 3)
    work, inputs, scores = work_of("lenet5", 3), 4 * 3 * 28 * 28, 4 * 3 * 10
    assert forward.compulsory_bytes == work.parameter_bytes + inputs + scores
    gradients = work.parameter_bytes + inputs
    moved = work.parameter_bytes + inputs + gradients + 2 * work.activation_bytes
    assert backward.compulsory_bytes == moved
    assert len(forward.operations) == work.forward.dispatches


@given(speeds=st.lists(st.floats(0.5, 2.0), min_size=1, max_size=6))
@settings(max_examples=30)
def test_a_machine_that_slows_down_moves_the_seconds_and_hardly_the_ratio(
    speeds: list[float],
) -> None:
    peak: Any = SimpleNamespace(device=SimpleNamespace(type="cpu"))
    with pytest.MonkeyPatch.context() as patch:
        machine = SimulatedMachine(patch, floor, speeds, seconds=6.0)

        def measure() -> Costs:
            speed = machine.measure_speed()
            return Costs(1 / speed, {2**16: 10.0 * speed}, {}, 1.0)

        patch.setattr(floor, "meter_for", lambda *_: SimpleNamespace(measure=measure))
        works = [PassWork([Operation("aten::add", {}, 0, 20)], 20)] * 2
        patch.setattr(floor, "pass_works", lambda *_: works)
        measured = floor_of("lstnet", peak).forward
    assert measured.times_floor == pytest.approx(2.0)
    assert 3.0 / 2.0 * 0.99 <= measured.floor_seconds <= 3.0 / 0.5 * 1.01
    least, most = 3, 10
    rounds = machine.order.count("pass") // 2
    assert least <= rounds <= most
    # Costs come first and last, and both passes lie between any two of them.
    assert machine.order == ["mark", *["pass", "pass", "mark"] * rounds]


def test_real_passes_take_longer_than_their_floors() -> None:
    torch.set_num_threads(1)
    peak = Peak("cpu", sizes=[128])
    with pytest.raises(ValueError, match="mode is 'fast'; it must be one of eager, compiled"):
        floor_of("lstnet", peak, "fast")
    measured = floor_of("lstnet", peak, batch=16)
    for against_floor in (measured.forward, measured.backward):
        assert 1.0 < against_floor.times_floor < 50
        assert 1e-6 < against_floor.floor_seconds < 1
