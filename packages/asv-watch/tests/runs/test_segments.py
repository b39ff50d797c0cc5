"""The noise between the runs of a series."""

from __future__ import annotations

import numpy as np
import pytest

from asv_watch.runs.segments import noise_between_runs, split
from tests.making import make_history, make_series


def noise_of(values: list[float]) -> float | None:
    [segments] = split(make_history([make_series(values)]))
    return noise_between_runs(segments)


@pytest.mark.parametrize("spread", [0.005, 0.05])
def test_it_is_the_coefficient_of_variation_whatever_a_few_steps_and_spikes_add(
    spread: float,
) -> None:
    values = np.random.default_rng(2).lognormal(0.0, spread, 1000)
    assert noise_of(values.tolist()) == pytest.approx(spread, rel=0.06)
    values[300:] *= 1.3
    values[600:] *= 0.5
    values[::100] *= 4
    assert noise_of(values.tolist()) == pytest.approx(spread, rel=0.1)


@pytest.mark.parametrize("values", [[], [1.0] * 7, [1.0] * 9 + [0.0], [-1.0] * 9])
def test_of_too_few_values_or_those_without_a_logarithm_it_is_unknown(values: list[float]) -> None:
    assert noise_of(values) is None
    assert noise_of([3.0] * 8) == 0
