"""Utilisation is a ratio of two rates that the same seconds saw."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.measure.simulated_machine import SimulatedMachine
from torchspeed.measure import utilisation
from torchspeed.measure.peak import Peak
from torchspeed.measure.utilisation import utilisation_of
from torchspeed.measure.work import work_of


@given(speeds=st.lists(st.floats(0.5, 2.0), min_size=1, max_size=6))
@settings(max_examples=30)
def test_a_machine_that_slows_down_moves_the_rate_and_hardly_the_share(
    speeds: list[float],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        machine = SimulatedMachine(patch, utilisation, speeds, seconds=1e-3)
        peak: Any = SimpleNamespace(
            device=SimpleNamespace(type="cpu"), measure=lambda: 1e11 * machine.measure_speed()
        )
        measured = utilisation_of("lstnet", peak, 2).forward
    flops = work_of("lstnet", 2, "plain").forward.flops
    assert measured.share_of_peak == pytest.approx(flops / 1e-3 / 1e11, rel=0.02)
    slow, fast = (flops / 1e-3 * speed for speed in (min(speeds), max(speeds)))
    assert slow * 0.999 <= measured.flops_per_second <= fast * 1.001


def test_a_real_pass_has_a_share_of_the_real_peak() -> None:
    torch.set_num_threads(1)
    measured = utilisation_of("lenet5", Peak("cpu", sizes=[256]), 16)
    for reached in (measured.forward, measured.backward):
        assert 0.001 < reached.share_of_peak < 1.2
        assert 1e7 < reached.flops_per_second < 1e13
