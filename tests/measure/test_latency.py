"""Single calls are timed one by one, each until its result is there."""

from __future__ import annotations

import time

import numpy as np
import pytest

from torchspeed.measure import latency
from torchspeed.measure.latency import latency_of, single_calls


def test_calls_are_timed_one_by_one_with_the_wait_for_their_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(latency, "FIRST_SECONDS", 0.01)
    monkeypatch.setattr(latency, "CALLS", (100, 120))
    done: list[str] = []

    def run() -> None:
        done.append("run")

    def wait() -> None:
        done.append("wait")
        # One call in ten is late, the first ones much later: they are not counted.
        calls = done.count("wait")
        time.sleep(0.05 if calls <= 2 else 0.02 if calls % 10 == 0 else 0.001)

    seconds = single_calls(run, wait)
    assert len(seconds) == 120
    assert done == ["run", "wait"] * (len(done) // 2)
    assert min(seconds) >= 0.001
    assert np.quantile(seconds, 0.99) >= 0.02
    assert sum(one >= 0.02 for one in seconds) >= 12


def test_a_forecast_has_a_median_below_its_99th_percentile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(latency, "SECONDS", 0.2)
    found = latency_of("dlinear", "cpu")
    assert 0 < found.median_seconds <= found.percentile_99_seconds
    assert 100 <= found.calls <= 2000
    with pytest.raises(ValueError, match="mode is 'graph'"):
        latency_of("dlinear", "cpu", "graph")
