"""Utilisation is a ratio of two rates that the same seconds saw."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchspeed.measure import utilisation
from torchspeed.measure.peak import Peak
from torchspeed.measure.utilisation import utilisation_of
from torchspeed.measure.work import work_of


class SimulatedMachine:
    """A machine whose speed changes between measurements, pass and peak alike."""

    def __init__(self, patch: pytest.MonkeyPatch, speeds: list[float]) -> None:
        self.seconds = 1e-3
        self.peak_rate = 1e11
        self._speeds = itertools.cycle(speeds)
        self._speed = next(self._speeds)
        self.order: list[str] = []
        fake = SimpleNamespace(forward=lambda: None, backward=lambda: None)
        patch.setattr(utilisation, "Passes", lambda *_: fake)
        patch.setattr(utilisation, "seconds_per_call", self._time)
        self.peak: Any = SimpleNamespace(
            device=SimpleNamespace(type="cpu"), measure=self._measure_peak
        )

    def _time(self, run: Any, clock: Any) -> float:
        del run, clock
        self.order.append("pass")
        return self.seconds / self._speed

    def _measure_peak(self) -> float:
        self.order.append("peak")
        rate = self.peak_rate * self._speed
        if len(self.order) % 8 == 0:  # the speed holds for a few measurements
            self._speed = next(self._speeds)
        return rate


@given(speeds=st.lists(st.floats(0.5, 2.0), min_size=1, max_size=6))
@settings(deadline=None, max_examples=30)
def test_a_machine_that_slows_down_moves_the_rate_and_hardly_the_share(
    speeds: list[float],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        machine = SimulatedMachine(patch, speeds)
        utilisation = utilisation_of("lstnet", machine.peak, 2)
    flops = work_of("lstnet", 2, "plain").forward.flops
    assert utilisation.forward.share_of_peak == pytest.approx(flops / 1e-3 / 1e11, rel=0.02)
    slow, fast = (flops / 1e-3 * speed for speed in (min(speeds), max(speeds)))
    assert slow * 0.999 <= utilisation.forward.flops_per_second <= fast * 1.001


def test_a_real_pass_has_a_share_of_the_real_peak() -> None:
    torch.set_num_threads(1)
    utilisation = utilisation_of("lenet5", Peak("cpu", sizes=[256]), 16)
    for reached in (utilisation.forward, utilisation.backward):
        assert 0.001 < reached.share_of_peak < 1.2
        assert 1e7 < reached.flops_per_second < 1e13
