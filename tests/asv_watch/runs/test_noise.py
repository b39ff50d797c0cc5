from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.records.history import History
from asv_watch.runs.noise import (
    FEW_DIFFERENCES,
    own_noise,
)
from asv_watch.runs.segments import known_noise, split
from tests.asv_watch.making import make_history, make_series


def noise_of(history: History) -> tuple[float | None, ...]:
    return known_noise(history, split(history))


lists_of_values = st.lists(st.floats(0.1, 10.0), min_size=8, max_size=60)


@pytest.mark.parametrize("spread", [0.005, 0.02, 0.05])
def test_it_is_the_coefficient_of_variation(spread: float) -> None:
    values = np.random.default_rng(1).lognormal(0.0, spread, 4000)
    # 4000 values tell a standard deviation to a few per cent.
    assert own_noise([list(values)]).cautious == pytest.approx(spread, rel=0.06)


def test_steps_and_spikes_move_it_little() -> None:
    rng = np.random.default_rng(2)
    values = rng.lognormal(0.0, 0.02, 300)
    quiet = own_noise([list(values)]).cautious
    values[100:] *= 1.3
    values[200:] *= 0.5
    values[::30] *= 4
    disturbed = own_noise([list(values)]).cautious
    assert quiet is not None
    assert disturbed is not None
    assert disturbed < 1.25 * quiet


@given(lists_of_values)
def test_it_is_the_larger_of_two_quantiles_of_normal_differences(values: list[float]) -> None:
    sizes = np.abs(np.diff(np.log(values)))
    half, three_quarters = np.quantile(sizes, (0.5, 0.75))
    expected = max(
        half / scipy.stats.halfnorm.ppf(0.5), three_quarters / scipy.stats.halfnorm.ppf(0.75)
    )
    expected *= (1 + FEW_DIFFERENCES / len(sizes)) / math.sqrt(2)
    assert own_noise([values]).cautious == pytest.approx(expected, abs=1e-12)


def test_a_second_mode_is_noise() -> None:
    values = [1.0, 1.0, 1.0, 1.2, 1.2, 1.0, 1.0, 1.2, 1.2, 1.0, 1.0, 1.0]
    noise = own_noise([values]).cautious
    assert noise is not None
    assert noise > 0.1


def test_values_that_repeat_have_none() -> None:
    assert own_noise([[3.0] * 20]).cautious == 0


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 7, [1.0] * 9 + [0.0], [-1.0] * 9])
def test_too_few_or_not_positive(values: list[float]) -> None:
    assert own_noise([values]).cautious is None


def test_few_values_of_a_case_are_read_together_with_the_noise_of_the_others() -> None:
    rng = np.random.default_rng(5)
    alike = [make_series(list(rng.lognormal(0.0, 0.01, 9)), model=f"m{at}") for at in range(40)]
    noisy = make_series(list(rng.lognormal(0.0, 0.08, 9)), model="noisy")
    alone = [noise_of(make_history([series]))[0] for series in alike]
    together = noise_of(make_history([*alike, noisy]))
    spread_alone = np.std(np.log(np.array(alone, dtype=float)))
    assert np.std(np.log(np.array(together[:-1], dtype=float))) < 0.7 * spread_alone
    assert together[-1] is not None
    assert together[-1] > 3 * np.median(np.array(together[:-1], dtype=float))
    # Fewer than twenty series do not show how much their noise differs.
    assert noise_of(make_history(alike[:19])) == tuple(alone[:19])
