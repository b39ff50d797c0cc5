"""Forecasts: their measures, the simple ones that a model has to beat, and whether it does."""

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchspeed.data.options import DataOptions
from torchspeed.data.series import rows_of, split_series
from torchspeed.models import Implementation, create_model
from torchspeed.training.config import RunConfig
from torchspeed.training.forecasts import (
    LAST_ANOMALY,
    LAST_VALUE,
    MEAN,
    RIDGE,
    SEASONAL_MEAN,
    SEASONAL_VALUE,
    ForecastAccuracy,
    ForecastReport,
    baseline_forecasts,
    find_season,
    forecast_accuracy,
)
from torchspeed.training.run import infer
from torchspeed.training.train import train

TPA_LSTM = RunConfig(
    model="tpa_lstm", data="el_nino", horizon=3, batch_size=32,
    optimiser="adam", rate=0.01, epochs=8,
)  # fmt: skip


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), columns=st.integers(1, 4))
def test_measures_are_those_of_the_papers_equations(seed: int, columns: int) -> None:
    generator = np.random.default_rng(seed)
    truth = generator.normal(5, 0.5, (30, columns))  # far from zero
    forecasts = truth + generator.normal(0, 1, truth.shape)
    accuracy = forecast_accuracy(forecasts, truth)
    errors = forecasts - truth
    of_the_mean = truth - truth.mean()
    assert accuracy.rse == pytest.approx(np.sqrt((errors**2).sum() / (of_the_mean**2).sum()))
    centred, forecast = truth - truth.mean(0), forecasts - forecasts.mean(0)
    products = (centred * forecast).sum(0)
    correlation = products / np.sqrt((centred**2).sum(0) * (forecast**2).sum(0))
    assert accuracy.corr == pytest.approx(correlation.mean())
    assert accuracy.rmse == pytest.approx(np.sqrt((errors**2).mean()))
    assert accuracy.mae == pytest.approx(np.abs(errors).mean())
    assert accuracy.mape == pytest.approx((np.abs(errors) / np.abs(truth)).mean())


def test_measures_that_values_do_not_allow_are_left_out() -> None:
    truth = np.arange(1.0, 41.0).reshape(-1, 1)
    assert forecast_accuracy(truth + 0.1, truth).mape is None  # 1 is 5 % of the mean
    assert forecast_accuracy(truth + 5.1, truth + 5).mape is not None
    constant = np.full((30, 2), 0.1)  # numpy finds a deviation of 1e-17
    accuracy = forecast_accuracy(constant + 1, constant)
    assert (accuracy.rse, accuracy.corr, accuracy.mae) == (None, None, 1)


def with_error(rmse: float) -> ForecastAccuracy:
    return ForecastAccuracy(rse=None, corr=None, rmse=rmse, mae=rmse, mape=None)


@pytest.mark.parametrize(
    ("error", "best", "verdict"),
    [
        (1.5, 2, "The model's error (RMSE) is 25 % below that of the best simple forecast, "
                 "ridge."),
        (2.1, 2, "The model is as good as the best simple forecast, ridge: their errors (RMSE) "
                 "differ by 5 %."),
        (9.0, 2, "The model is worse than the best simple forecast, ridge: its error (RMSE) is "
                 "4.5 times as high."),
        (9.0, 0, "There is nothing to learn: the best simple forecast, ridge, makes no error."),
    ],
)  # fmt: skip
def test_a_verdict_names_the_best_forecast(error: float, best: float, verdict: str) -> None:
    others = {"the mean": with_error(4), "ridge": with_error(best), "last": with_error(3)}
    assert ForecastReport(3, 9, None, with_error(error), others).in_words == verdict


FIRST: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(["darnn", "dsanet", "lstnet", "tpa_lstm"], ()),
    **dict.fromkeys(["dlinear", "nhits", "tcn", "deepar"],
                    (SEASONAL_MEAN, LAST_ANOMALY)),
    # These are not better than the last anomaly on all seeds.
    **dict.fromkeys(["patchtst", "tsmixer", "encoder_decoder"], (SEASONAL_MEAN,)),
}  # fmt: skip
"""Simple forecasts that a model beats in its first training; all, where none is named."""


@pytest.mark.parametrize("model", FIRST)
def test_a_first_training_without_options_learns_to_forecast(model: str) -> None:
    report: Any = train(RunConfig(model=model)).forecast
    for name in FIRST[model] or report.baselines:
        assert report.model.rmse < report.baselines[name].rmse, name
    if not FIRST[model]:
        assert "below that of the best simple forecast" in report.in_words


def test_training_reports_the_best_epoch_and_beats_the_last_value(tmp_path: Path) -> None:
    best = tmp_path / "best.pt"
    result = train(TPA_LSTM, checkpoint=best)
    losses = [epoch.held_out_loss for epoch in result.epochs]
    report: Any = result.forecast
    assert report.epoch == 1 + losses.index(min(losses))
    assert (report.items, report.horizon) == (147, 3)
    assert report.model.rmse < report.baselines[LAST_VALUE].rmse
    # What was kept is what was tested, and inference takes it.
    again: Any = infer(TPA_LSTM, weights=best).forecast
    assert (again.model, again.baselines) == (report.model, report.baselines)


def test_a_model_that_expects_no_anomaly_is_as_good_as_the_season(tmp_path: Path) -> None:
    config = RunConfig(model="dlinear", window=12)
    model = create_model("dlinear", "plain", window=12, features=1, horizon=3)
    zeros = {name: torch.zeros_like(value) for name, value in model.state_dict().items()}
    torch.save(zeros, tmp_path / "zeros.pt")
    report: Any = infer(config, weights=tmp_path / "zeros.pt").forecast
    assert report.model.rse == pytest.approx(report.baselines[SEASONAL_MEAN].rse, rel=1e-5)
    assert report.model.rse == pytest.approx(0.366, abs=0.001)


def test_the_absolute_error_is_trained_on_where_asked_for_and_validation_stays_squared() -> None:
    config = replace(TPA_LSTM, rate=1e-30, epochs=1)  # which moves nothing
    [squared], [absolute] = (
        train(replace(config, absolute_error=absolute)).epochs for absolute in (False, True)
    )
    assert squared.held_out_loss == absolute.held_out_loss
    # The mean of squares is at least the square of the mean, and they differ.
    assert absolute.train_loss**2 < squared.train_loss != absolute.train_loss


@pytest.mark.parametrize("implementation", get_args(Implementation))
def test_a_highway_repeats_what_it_is_told_to(implementation: Implementation) -> None:
    torch.manual_seed(0)
    model = create_model("tpa_lstm", implementation, features=4, outputs=4, window=6, highway=3)
    state = {name: torch.zeros_like(value) for name, value in model.state_dict().items()}
    state["autoregression.weight"][0, -1] = 1  # the last step alone
    model.load_state_dict(state)
    x = torch.randn(5, 6, 4)
    assert torch.equal(model(x), x[:, -1])


def seasonal_series(rows: int, season: int, noise: float, columns: int = 2) -> np.ndarray:
    generator = np.random.default_rng(season)
    shape = generator.normal(0, 1, (season, columns))
    drift = generator.normal(0, noise, (rows, columns)).cumsum(0)
    made: np.ndarray = shape[np.arange(rows) % season] + drift
    return made.astype(np.float32)


def data_of(values: np.ndarray, season: int | None = None, **options: Any) -> Any:
    names = [str(column) for column in range(values.shape[1])]
    return split_series("a test", values, names, DataOptions(**options), "a test", season)


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
                LAST_VALUE: known[end],
                MEAN: trained.mean(0),
                SEASONAL_VALUE: known[ago],
                SEASONAL_MEAN: trained[row % 7 :: 7].mean(0),
                LAST_ANOMALY: trained[row % 7 :: 7].mean(0)
                + (known[end] - trained[end % 7 :: 7].mean(0)),
            }
            for name, expected in by_hand.items():
                assert np.allclose(forecasts[name][index, step], expected, atol=1e-5), name


@pytest.mark.parametrize("every_step", [False, True])
@pytest.mark.parametrize("largest", [10**9, 2500])
def test_ridge_finds_a_series_that_is_linear_in_its_window(
    largest: int, every_step: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torchspeed.training.forecasts.LARGEST_REGRESSION", largest)
    rows = np.arange(400)
    values = np.stack([np.sin(rows / 3) + np.sin(rows / 17), np.cos(rows / 3)], 1)
    data = data_of(values.astype(np.float32), window=8, horizon=3, target="all",
                   every_step=every_step)  # fmt: skip
    items = np.arange(len(data.test))
    forecasts = baseline_forecasts(data, data.scale, items)
    _, labels = rows_of(data.test, items)
    truth = torch.from_numpy(values)[labels]
    assert forecasts[RIDGE].shape == truth.shape
    error = (forecasts[RIDGE] - truth).square().mean().sqrt()
    assert error < 0.1
    assert error < 0.2 * (forecasts[LAST_VALUE] - truth).square().mean().sqrt()


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
        baseline_forecasts(data, data.scale, items)[RIDGE] for data in (plain, shifted)
    )
    _, labels = rows_of(plain.test, items)
    assert torch.allclose(without + torch.from_numpy(season)[labels], with_season, atol=1e-3)


@pytest.mark.filterwarnings("error")
def test_ridge_on_a_series_that_hardly_moves_gives_no_warning() -> None:
    slow = np.random.default_rng(0).normal(0, 1, (3000, 8)).cumsum(0)
    data = data_of(slow.astype(np.float32), window=100, horizon=3, target="all")
    assert baseline_forecasts(data, data.scale, np.arange(50))[RIDGE].shape == (50, 1, 8)


def test_a_data_set_of_ones_own_without_windows_has_the_last_value_and_the_mean() -> None:
    data = data_of(seasonal_series(100, 5, 0.1), window=4, horizon=1)
    pairs = list(data.test)
    own = type(data)("own", data.train, pairs, data.item_shape, None, "a test", data.target,
                     data.validation, data.scale)  # fmt: skip
    forecasts = baseline_forecasts(own, data.scale, np.arange(len(pairs)))
    assert set(forecasts) == {LAST_VALUE, MEAN}
    last = torch.stack([x[-1, 0] for x, _ in pairs]).double()
    expected = last * data.scale.deviation[0] + data.scale.mean[0]
    assert torch.equal(forecasts[LAST_VALUE][:, 0, 0], expected)
