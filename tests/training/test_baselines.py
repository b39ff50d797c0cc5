"""What a model has to beat: each simple forecast, beside its definition by hand."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchspeed.data.options import DataOptions
from torchspeed.data.series import rows_of, split_series
from torchspeed.training import baselines
from torchspeed.training.baselines import baseline_forecasts, find_season


def seasonal_series(rows: int, season: int, noise: float, columns: int = 2) -> np.ndarray:
    generator = np.random.default_rng(season)
    shape = generator.normal(0, 1, (season, columns))
    drift = generator.normal(0, noise, (rows, columns)).cumsum(0)
    made: np.ndarray = shape[np.arange(rows) % season] + drift
    return made.astype(np.float32)


def data_of(values: np.ndarray, season: int | None = None, **options: Any) -> Any:
    names = [str(column) for column in range(values.shape[1])]
    return split_series(
        "a test", torch.from_numpy(values), names, DataOptions(**options), "a test", season
    )


@given(season=st.integers(3, 40), seed=st.integers(0, 100))
@settings(max_examples=30)
def test_a_season_is_found_in_noise_and_drift(season: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    wave = np.sin(2 * np.pi * np.arange(season * 12) / season)[:, None]
    drift = generator.normal(0, 0.1 / season, wave.shape).cumsum(0)
    assert find_season((wave + drift).astype(np.float32)) == season


@pytest.mark.parametrize("seed", range(8))
def test_noise_a_random_walk_a_line_and_a_constant_have_no_season(seed: int) -> None:
    noise = np.random.default_rng(seed).normal(0, 1, (500, 1)).astype(np.float32)
    line = np.linspace(0, 1 + seed, 500, dtype=np.float32)[:, None]
    for values in (noise, noise.cumsum(0), line, np.full_like(line, seed)):
        assert find_season(values) is None


@pytest.mark.parametrize("anomalies", [False, True])
@pytest.mark.parametrize("every_step", [False, True])
@pytest.mark.parametrize("target", ["all", "1"])
def test_every_baseline_is_its_definition(target: str, every_step: bool, anomalies: bool) -> None:
    values = seasonal_series(300, season=7, noise=0.05)
    window, horizon = 9, 4
    season = 7 if anomalies else None  # found where it is not said
    data = data_of(values, season, window=window, horizon=horizon, target=target,
                   every_step=every_step, anomalies=anomalies)  # fmt: skip
    items = np.arange(0, len(data.test), 3)
    forecasts = baseline_forecasts(data, data.scale, items)
    columns = [0, 1] if target == "all" else [1]
    known = values[:, columns]
    trained = known[:180]
    for index, item in enumerate(items.tolist()):
        label = 240 + (horizon - 1 if every_step else 0) + item
        end = label - horizon  # the last row of the window
        for step, row in enumerate(range(end + 1, label + 1) if every_step else [label]):
            ago = max(r for r in range(row % 7, row, 7) if r <= end)
            by_hand = {
                baselines.LAST_VALUE: known[end],
                baselines.MEAN: trained.mean(0),
                baselines.SEASONAL_VALUE: known[ago],
                baselines.SEASONAL_MEAN: trained[row % 7 :: 7].mean(0),
                baselines.LAST_ANOMALY: trained[row % 7 :: 7].mean(0)
                + (known[end] - trained[end % 7 :: 7].mean(0)),
            }
            for name, expected in by_hand.items():
                assert np.allclose(forecasts[name][index, step], expected, atol=1e-5), name


@pytest.mark.parametrize("every_step", [False, True])
@pytest.mark.parametrize("largest", [10**9, 2500])
def test_ridge_finds_a_series_that_is_linear_in_its_window(
    largest: int, every_step: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baselines, "LARGEST_REGRESSION", largest)
    rows = np.arange(400)
    values = np.stack([np.sin(rows / 3) + np.sin(rows / 17), np.cos(rows / 3)], 1)
    data = data_of(values.astype(np.float32), window=8, horizon=3, target="all",
                   every_step=every_step)  # fmt: skip
    items = np.arange(len(data.test))
    forecasts = baseline_forecasts(data, data.scale, items)
    _, labels = rows_of(data.test, items)
    truth = torch.from_numpy(values)[labels]
    assert forecasts[baselines.RIDGE].shape == truth.shape
    error = (forecasts[baselines.RIDGE] - truth).square().mean().sqrt()
    assert error < 0.1
    assert error < 0.2 * (forecasts[baselines.LAST_VALUE] - truth).square().mean().sqrt()


def test_ridge_sees_the_anomalies_that_a_model_sees() -> None:
    walk = seasonal_series(300, season=7, noise=0.05)
    season = np.random.default_rng(1).normal(0, 9, (7, 2))[np.arange(300) % 7].astype(np.float32)
    plain, shifted = (
        data_of(values, 7, window=9, horizon=2, target="all", anomalies=True)
        for values in (walk, walk + season)
    )
    assert torch.allclose(plain.train.inputs, shifted.train.inputs, atol=1e-4)
    items = np.arange(len(plain.test))
    without, with_season = (
        baseline_forecasts(data, data.scale, items)[baselines.RIDGE] for data in (plain, shifted)
    )
    _, labels = rows_of(plain.test, items)
    assert torch.allclose(without + torch.from_numpy(season)[labels], with_season, atol=1e-3)


@pytest.mark.filterwarnings("error")
def test_ridge_on_a_series_that_hardly_moves_gives_no_warning() -> None:
    slow = np.random.default_rng(0).normal(0, 1, (3000, 8)).cumsum(0)
    data = data_of(slow.astype(np.float32), window=100, horizon=3, target="all")
    assert baseline_forecasts(data, data.scale, np.arange(50))[baselines.RIDGE].shape == (50, 1, 8)


def test_a_data_set_of_ones_own_without_windows_has_the_last_value_and_the_mean() -> None:
    data = data_of(seasonal_series(100, 5, 0.1), window=4, horizon=1)
    pairs = list(data.test)
    own = type(data)("own", data.train, pairs, data.item_shape, None, "a test", data.target,
                     data.validation, data.scale)  # fmt: skip
    forecasts = baseline_forecasts(own, data.scale, np.arange(len(pairs)))
    assert set(forecasts) == {baselines.LAST_VALUE, baselines.MEAN}
    last = torch.stack([x[-1, 0] for x, _ in pairs]).double()
    expected = last * data.scale.deviation[0] + data.scale.mean[0]
    assert torch.equal(forecasts[baselines.LAST_VALUE][:, 0, 0], expected)
