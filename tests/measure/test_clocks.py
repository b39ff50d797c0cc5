"""A call is timed in batches that are long enough, whatever it costs."""

from __future__ import annotations

import time

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from torchspeed.measure import clocks
from torchspeed.measure.clocks import clock_for, interleaved, seconds_per_call


class SimulatedClock:
    """Moves only when a call is made, in steps of its resolution."""

    def __init__(self, first: float, each: float, resolution: float = 0.0) -> None:
        self.costs = [first, each]
        self.resolution = resolution
        self.now = 0.0
        self.calls = 0

    def call(self) -> None:
        self.now += self.costs[min(self.calls, 1)]
        self.calls += 1

    def read(self) -> float:
        return self.now - self.now % self.resolution if self.resolution else self.now


@given(each=st.floats(1e-4, 10.0), at_least=st.floats(1e-3, 1.0))
def test_a_call_of_constant_cost_has_that_cost(each: float, at_least: float) -> None:
    clock = SimulatedClock(each, each)
    assert seconds_per_call(clock.call, clock.read, at_least) == pytest.approx(each, rel=1e-3)
    # The batch that counts, one nearly as long before it, and the short ones before that.
    assert clock.calls * each <= 2.3 * at_least + 3 * each


@given(each=st.floats(1e-5, 1e-3), factor=st.floats(1.0, 1e4))
def test_a_slow_first_call_does_not_count_where_calls_are_short(
    each: float, factor: float
) -> None:
    clock = SimulatedClock(min(each * factor, 0.015), each)
    assert seconds_per_call(clock.call, clock.read) == pytest.approx(each, rel=1e-3)


@given(each=st.floats(1e-5, 1e-3))
def test_a_coarse_clock_is_read_over_a_long_batch(each: float) -> None:
    clock = SimulatedClock(each, each, resolution=1e-3)
    assert seconds_per_call(clock.call, clock.read) == pytest.approx(each, rel=0.06)


def test_the_clock_of_a_device_is_read_when_that_device_has_finished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: list[str] = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    clock = clock_for("cuda:1")
    assert clock() <= clock()
    assert waited == ["cuda:1", "cuda:1"]
    assert clock_for("cpu") is time.process_time


def test_passes_are_compared_with_what_was_measured_just_before_and_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clocks, "seconds_per_call", lambda run, _clock: run())
    speeds = iter(range(100))
    runs = (lambda: 5.0), (lambda: 7.0)
    first, second = interleaved(runs, lambda: [next(speeds), 1.0], "cpu")
    assert first[:3] == [(5.0, 0.5), (5.0, 1.5), (5.0, 2.5)]
    assert set(second) == {(7.0, 1.0)}
    assert 3 <= len(first) == len(second) <= 10
