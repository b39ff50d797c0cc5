"""A pass beside its bounds: the peak of a device, and the least time of its work."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from torchspeed.measure import floor
from torchspeed.measure.floor import CONVOLUTION_FLOPS, PassWork, floor_of, floors_on
from torchspeed.measure.peak import Peak
from torchspeed.measure.utilisation import utilisation_of
from torchspeed.measure.work import count


def test_the_rate_is_a_products_arithmetic_over_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    peak = Peak("cpu", sizes=[256])

    def half_a_second(run: Callable[[], object], _clock: object) -> float:
        run()
        return 0.5

    monkeypatch.setattr("torchspeed.measure.peak.seconds_per_call", half_a_second)
    assert peak.measure() == 2 * 256**3 / 0.5
    torch.testing.assert_close(peak._out, peak._left @ peak._right)


@given(rates=st.dictionaries(st.sampled_from([8, 16, 24, 32]), st.floats(1e3, 1e12), min_size=1))
def test_the_fastest_size_is_kept(rates: dict[int, float]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Peak, "measure", lambda self: rates[self.size])
        peak = Peak("cpu", sizes=list(rates))
    assert rates[peak.size] == max(rates.values())
    assert peak._left.shape == (peak.size, peak.size)


def test_tensor_float_32_of_a_cpu_is_refused() -> None:
    with pytest.raises(ValueError, match="tf32 is for CUDA devices, not for 'cpu'"):
        Peak("cpu", tf32=True)


def test_a_real_pass_has_a_share_of_the_real_peak() -> None:
    measured = utilisation_of("lenet5", Peak("cpu", sizes=[256]), 16)
    for reached in (measured["forward"], measured["backward"]):
        assert 0.001 < reached.share_of_peak < 1.2
        assert 1e7 < reached.flops_per_second < 1e13


def test_a_floor_is_flops_or_bytes_over_their_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    peak = Peak("cpu", sizes=[64])
    monkeypatch.setattr(peak, "measure", lambda: 1e9)
    monkeypatch.setattr(floor, "seconds_per_call", lambda *_: CONVOLUTION_FLOPS / 2e9)
    copied = 2**20
    bandwidth = copied / (CONVOLUTION_FLOPS / 2e9)
    works = {"large": PassWork(int(4e12), copied), "small": PassWork(1, copied)}
    bounds = {"large": 4e12 / 2e9, "small": copied / bandwidth}
    assert floors_on(peak, works)() == pytest.approx(bounds)
    monkeypatch.setattr(peak, "measure", lambda: 4e9)
    assert floors_on(peak, works)()["large"] == pytest.approx(4e12 / 4e9)


def test_flops_of_the_convolution_are_those_that_torch_counts() -> None:
    images = torch.empty(floor.IMAGES, floor.CHANNELS, floor.SIZE, floor.SIZE, device="meta")
    sizes = floor.CHANNELS, floor.CHANNELS, floor.FILTER, floor.FILTER
    filters = torch.empty(sizes, device="meta")
    assert count(lambda: torch.conv2d(images, filters)).flops == CONVOLUTION_FLOPS


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.needs("CUDA"))])
def test_real_passes_take_longer_than_their_floors(device: str) -> None:
    peak = Peak(device, sizes=[128])
    measured = floor_of("lstnet", peak, batch=16)
    for against_floor in (measured["forward"], measured["backward"]):
        assert against_floor.times_floor > 1
        assert 1e-8 < against_floor.floor_seconds < 1
