"""The peak is the rate of a matrix product, measured as often as it is asked for."""

from __future__ import annotations

import time

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from torchspeed.measure.peak import Peak


def test_the_rate_is_the_arithmetic_of_a_product_over_its_time() -> None:
    torch.set_num_threads(1)
    peak = Peak("cpu", sizes=[256])
    assert peak.size == 256
    left, right = torch.randn(2, 256, 256)
    rates = []
    by_hand = []
    for _ in range(5):  # in turn: the best of each is little touched by other load
        rates.append(peak.measure())
        begun = time.process_time()
        for _ in range(50):
            left @ right
        by_hand.append(50 * 2 * 256**3 / (time.process_time() - begun))
    # No slip of 2, nor of a power of 10.
    assert 1 / 1.8 < max(rates) / max(by_hand) < 1.8


@given(rates=st.dictionaries(st.sampled_from([8, 16, 24, 32]), st.floats(1e3, 1e12), min_size=1))
def test_the_fastest_size_is_kept(rates: dict[int, float]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Peak, "measure", lambda self: rates[self.size])
        peak = Peak("cpu", sizes=list(rates))
    assert rates[peak.size] == max(rates.values())
    assert peak._left.shape == (peak.size, peak.size)


def test_what_a_device_has_not_is_named() -> None:
    with pytest.raises(ValueError, match="tf32 is for CUDA devices, not for 'cpu'"):
        Peak("cpu", tf32=True)
    with pytest.raises(ValueError, match="device is 'tpu'"):
        Peak("tpu")
