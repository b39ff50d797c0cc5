"""A floor is the larger of two times, measured together with its pass."""

from __future__ import annotations

import pytest
import torch

from tests.gpu import needs_gpu
from torchspeed.measure import floor
from torchspeed.measure.floor import CONVOLUTION_FLOPS, PassWork, floor_of, floors_on, pass_works
from torchspeed.measure.peak import Peak
from torchspeed.measure.work import count, work_of


def test_a_floor_is_flops_over_the_rate_or_bytes_over_the_bandwidth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    peak = Peak("cpu", sizes=[64])
    monkeypatch.setattr(peak, "measure", lambda: 1e9)
    monkeypatch.setattr(floor, "seconds_per_call", lambda *_: CONVOLUTION_FLOPS / 2e9)
    copied = 2**20
    bandwidth = copied / (CONVOLUTION_FLOPS / 2e9)
    works = [PassWork(int(4e12), copied), PassWork(1, copied)]
    assert floors_on(peak, works)() == pytest.approx([4e12 / 2e9, copied / bandwidth])
    monkeypatch.setattr(peak, "measure", lambda: 4e9)
    assert floors_on(peak, works)()[0] == pytest.approx(4e12 / 4e9)


def test_flops_of_the_convolution_are_those_that_torch_counts() -> None:
    images = torch.empty(floor.IMAGES, floor.CHANNELS, floor.SIZE, floor.SIZE, device="meta")
    filters = torch.empty(
        floor.CHANNELS, floor.CHANNELS, floor.FILTER, floor.FILTER, device="meta"
    )
    assert count(lambda: torch.conv2d(images, filters)).flops == CONVOLUTION_FLOPS


def test_what_a_pass_must_move_is_counted_by_hand() -> None:
    forward, backward = pass_works("lenet5", 3)
    work, inputs, scores = work_of("lenet5", 3), 4 * 3 * 28 * 28, 4 * 3 * 10
    gradients = work.parameter_bytes + inputs
    moved = work.parameter_bytes + inputs + gradients + 2 * work.activation_bytes
    assert forward == (work.forward.flops, work.parameter_bytes + inputs + scores)
    assert backward == (work.backward.flops, moved)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_gpu)])
def test_real_passes_take_longer_than_their_floors(device: str) -> None:
    torch.set_num_threads(1)
    peak = Peak(device, sizes=[128])
    with pytest.raises(ValueError, match="mode is 'fast'; it must be one of eager, compiled"):
        floor_of("lstnet", peak, "fast")
    measured = floor_of("lstnet", peak, batch=16)
    for against_floor in (measured.forward, measured.backward):
        assert against_floor.times_floor > 1
        assert 1e-8 < against_floor.floor_seconds < 1
