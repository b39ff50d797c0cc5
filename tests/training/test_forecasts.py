import json
import math
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchspeed.cli import training
from torchspeed.cli.main import main
from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError
from torchspeed.models import Implementation, create_model
from torchspeed.training import baselines
from torchspeed.training.config import RunConfig
from torchspeed.training.forecasts import ForecastAccuracy, ForecastReport, forecast_accuracy
from torchspeed.training.infer import infer
from torchspeed.training.train import train

TPA_LSTM = RunConfig(
    model="tpa_lstm",
    data="el_nino",
    data_options=DataOptions(horizon=3),
    batch_size=32,
    optimiser="adam",
    rate=0.01,
    epochs=8,
)


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), columns=st.integers(1, 4))
def test_measures_are_those_of_the_papers_equations(seed: int, columns: int) -> None:
    generator = np.random.default_rng(seed)
    truth = generator.normal(5, 0.5, (30, columns))  # far from zero
    forecasts = truth + generator.normal(0, 1, truth.shape)
    accuracy = forecast_accuracy(forecasts, truth)
    errors = forecasts - truth
    assert accuracy.rse == pytest.approx(
        math.sqrt((errors**2).sum()) / math.sqrt(((truth - truth.mean()) ** 2).sum())
    )
    centred, forecast = truth - truth.mean(0), forecasts - forecasts.mean(0)
    products = (centred * forecast).sum(0)
    correlation = products / np.sqrt((centred**2).sum(0) * (forecast**2).sum(0))
    assert accuracy.corr == pytest.approx(correlation.mean())
    assert accuracy.rmse == pytest.approx(np.sqrt((errors**2).mean()))
    assert accuracy.mae == pytest.approx(np.abs(errors).mean())
    assert accuracy.mape == pytest.approx((np.abs(errors) / np.abs(truth)).mean())


def test_an_error_in_percent_of_values_near_zero_is_left_out() -> None:
    truth = np.arange(1.0, 41.0).reshape(-1, 1)
    assert forecast_accuracy(truth + 0.1, truth).mape is None  # 1 is 5 % of the mean
    assert forecast_accuracy(truth + 5.1, truth + 5).mape is not None


def with_error(rmse: float, rse: float | None = 0.5) -> ForecastAccuracy:
    return ForecastAccuracy(rse=rse, corr=None, rmse=rmse, mae=rmse, mape=None)


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (1.5, "The model's error (RMSE) is 25 % below that of the best simple forecast, ridge."),
        (2.1, "The model is as good as the best simple forecast, ridge: their errors (RMSE) "
              "differ by 5 %."),
        (9.0, "The model is worse than the best simple forecast, ridge: its error (RMSE) is "
              "4.5 times as high."),
    ],
)  # fmt: skip
def test_the_verdict_names_the_best_simple_forecast(error: float, verdict: str) -> None:
    others = {"the mean": with_error(4), "ridge": with_error(2), "the last value": with_error(3)}
    assert ForecastReport(3, 9, None, with_error(error), others).in_words == verdict


def test_values_that_never_change_have_no_rse_and_their_result_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, file = tmp_path / "constant.csv", tmp_path / "result.json"
    table.write_text("a,b\n" + "".join(f"5,{row}\n" for row in range(100)))
    data = ["-d", f"csv:{table}", "--window", "10"]
    options = [*data, "-e", "1", "-b", "8", "-q", "--threads", "1", "--json", str(file)]
    assert main(["train", "-m", "tpa_lstm", *options]) == 0
    forecast = json.loads(file.read_text())["forecast"]
    assert forecast["model"]["rse"] is None
    assert all(accuracy["rse"] is None for accuracy in forecast["baselines"].values())
    shown = capsys.readouterr().out
    assert "There is nothing to learn: the best simple forecast, the last value, makes no" in shown
    # A column that stands still while it is tested alone has an error of 0 to compare with.
    table.write_text("a\n" + "".join(f"{min(row, 70)}\n" for row in range(100)))
    assert main(["train", "-m", "tpa_lstm", *options, "--horizon", "1", "--window", "4"]) == 0
    moving = "".join(f"{row // 90}\n" for row in range(100))
    table.write_text(f"a\n{moving}")
    assert main(["train", "-m", "tpa_lstm", *options]) == 0


def test_a_result_is_on_the_disk_before_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "result.json"

    def show(*_: object) -> None:
        assert file.exists()
        raise TorchspeedError("the terminal is gone")

    monkeypatch.setattr(training, "show_run", show)
    options = ["-e", "1", "-q", "--limit-batches", "2", "--threads", "1", "--json", str(file)]
    assert main(["train", *options]) == 1
    assert json.loads(file.read_text())["command"] == "train"


FIRST: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(["darnn", "dsanet", "lstnet", "tpa_lstm"], ()),
    **dict.fromkeys(["dlinear", "nhits", "tcn", "deepar"],
                    (baselines.SEASONAL_MEAN, baselines.LAST_ANOMALY)),
    # These are not better than the last anomaly on all seeds.
    **dict.fromkeys(["patchtst", "tsmixer", "encoder_decoder"], (baselines.SEASONAL_MEAN,)),
}  # fmt: skip
"""Simple forecasts that a model beats in its first training; all, where none is named."""


@pytest.mark.parametrize("model", FIRST)
def test_a_first_training_without_options_learns_to_forecast(model: str) -> None:
    torch.set_num_threads(1)
    report = train(RunConfig(model=model)).forecast
    assert report is not None
    for name in FIRST[model] or report.baselines:
        assert report.model.rmse < report.baselines[name].rmse, name
    if not FIRST[model]:
        assert "below that of the best simple forecast" in report.in_words


def test_training_reports_the_best_validation_epoch_and_beats_the_last_value(
    tmp_path: Path,
) -> None:
    torch.set_num_threads(1)
    best = tmp_path / "best.pt"
    result = train(TPA_LSTM, checkpoint=best)
    losses = [epoch.held_out_loss for epoch in result.epochs]
    report = result.forecast
    assert report is not None
    assert report.epoch == 1 + losses.index(min(losses))
    assert (report.items, report.horizon) == (147, 3)
    assert report.model.rmse < report.baselines[baselines.LAST_VALUE].rmse
    # What was kept is what was tested, and inference takes it.
    again = infer(TPA_LSTM, weights=best).forecast
    assert again is not None
    assert (again.model, again.baselines) == (report.model, report.baselines)


def test_a_model_that_expects_no_anomaly_is_as_good_as_the_mean_of_the_season(
    tmp_path: Path,
) -> None:
    config = RunConfig(model="dlinear", data_options=DataOptions(window=12))
    model = create_model("dlinear", "plain", window=12, features=1, horizon=3)
    zeros = {name: torch.zeros_like(value) for name, value in model.state_dict().items()}
    torch.save(zeros, tmp_path / "zeros.pt")
    report = infer(config, weights=tmp_path / "zeros.pt").forecast
    assert report is not None
    assert report.model.rse == pytest.approx(
        report.baselines[baselines.SEASONAL_MEAN].rse, rel=1e-5
    )
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
