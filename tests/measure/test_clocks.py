"""A call is timed in batches that are long enough, whatever it costs, or by itself."""

import time

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from torchspeed.measure import clocks, latency
from torchspeed.measure.clocks import clock_for, interleaved, seconds_per_call
from torchspeed.measure.latency import latency_of, single_calls


class SimulatedClock:
    """Moves only when a call is made."""

    def __init__(self, first: float, each: float) -> None:
        self.costs = [first, each]
        self.now = 0.0
        self.calls = 0

    def call(self) -> None:
        self.now += self.costs[min(self.calls, 1)]
        self.calls += 1

    def read(self) -> float:
        return self.now


@given(each=st.floats(1e-4, 10.0), at_least=st.floats(1e-3, 1.0))
def test_a_call_of_constant_cost_has_that_cost(each: float, at_least: float) -> None:
    clock = SimulatedClock(each, each)
    assert seconds_per_call(clock.call, clock.read, at_least) == pytest.approx(each, rel=1e-3)
    # The batch that counts, one nearly as long before it, and the short ones before that.
    assert clock.calls * each <= 2.3 * at_least + 3 * each


@given(each=st.floats(1e-5, 1e-3), factor=st.floats(1.0, 1e4))
def test_a_slow_first_call_does_not_count_if_calls_are_short(each: float, factor: float) -> None:
    clock = SimulatedClock(min(each * factor, 0.015), each)
    assert seconds_per_call(clock.call, clock.read) == pytest.approx(each, rel=1e-3)


def test_a_devices_clock_is_read_when_it_has_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[str] = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    clock = clock_for("cuda:1")
    assert clock() <= clock()
    assert waited == ["cuda:1", "cuda:1"]
    assert clock_for("cpu") is time.process_time


def test_passes_are_compared_with_what_surrounds_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clocks, "seconds_per_call", lambda run, _clock: run())
    speeds = iter(range(100))
    runs = {"a": lambda: 5.0, "b": lambda: 7.0}
    measured = interleaved(runs, lambda: {"a": next(speeds), "b": 1.0}, "cpu")
    first, second = measured["a"], measured["b"]
    assert first[:3] == [(5.0, 0.5), (5.0, 1.5), (5.0, 2.5)]
    assert set(second) == {(7.0, 1.0)}
    assert 3 <= len(first) == len(second) <= 10


def test_calls_are_timed_singly_with_their_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimulatedClock(first=0.3, each=0.001)  # the first call compiles and is not counted
    monkeypatch.setattr(latency, "CALLS", (100, 120))

    def run() -> None:
        clock.call()
        clock.now += 0.1 if clock.calls % 10 == 0 else 0.004

    seconds = single_calls(run, clock.read)
    assert sorted(seconds) == pytest.approx([0.005] * 108 + [0.101] * 12)


def test_a_median_is_below_the_99th_percentile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latency, "SECONDS", 0.2)
    found = latency_of("dlinear", "cpu")
    assert 0 < found.median_seconds <= found.percentile_99_seconds
