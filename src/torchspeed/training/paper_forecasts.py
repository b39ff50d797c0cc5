"""LSTNet and TPA-LSTM on exchange rates, at the horizons and sizes of their papers.

Sizes of LSTNet are those of its authors' script for this set (github.com/laiguokun/LSTNet,
``stock.sh``, and the defaults of ``main.py``). TPA-LSTM's authors publish their settings for
music alone; window, layers, state and batch are a choice here, filters, dropout-free attention
and Adam are theirs.
"""

from __future__ import annotations

from typing import Any

from torchspeed.errors import TorchspeedError
from torchspeed.published import load_sources
from torchspeed.training.sweep import MeasuredPoint, Point

MODELS: dict[str, Point] = {
    "lstnet": {
        "window": 168,
        "batch_size": 128,
        "clip_norm": 10,
        "model_kwargs": "channels=50,kernel=6,recurrent=50,skip=24,skip_recurrent=5,highway=24,"
        "dropout=0.2",
    },
    "tpa_lstm": {
        "window": 30,
        "batch_size": 32,
        "clip_norm": 5,
        "target": "all",
        "model_kwargs": "hidden=12,layers=1,filters=32,filter_size=1,highway=24",
    },
}
"""What differs between the models."""


def arguments(epochs: int, data_dir: str, seed: int) -> list[str]:
    """Options of ``torchspeed train`` that all runs share.

    The authors of both train on the absolute error with Adam, those of LSTNet at a constant rate
    of 0.001 for up to 100 epochs; here a cosine with that mean ends within fewer.
    """
    return [
        "--data=exchange_rate",
        f"--data-dir={data_dir}",
        "--loss=absolute",
        "--optimiser=adam",
        "--rate=0.002",
        "--schedule=cosine",
        f"--epochs={epochs}",
        f"--seed={seed}",
    ]


def points(models: list[str], horizons: list[int]) -> list[Point]:
    """Return a run of each model at each horizon.

    Raises:
        TorchspeedError: a model is not of ``MODELS``.
    """
    for model in models:
        if model not in MODELS:
            raise TorchspeedError(f"--models {model}: give {' or '.join(MODELS)}")
    return [
        {"model": model, "horizon": horizon, **MODELS[model]}
        for horizon in horizons
        for model in models
    ]


def markdown(outcomes: list[MeasuredPoint]) -> str:
    """Return a table of the runs that ended well: last value, models, and what papers report."""
    rows = ["| horizon | forecast | RSE | CORR | RMSE | MAE | MAPE | best epoch |",
            "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    published = _published()
    shown: set[int] = set()
    for outcome in outcomes:
        if outcome.result is None:
            continue
        report = outcome.result["forecast"]
        if report["horizon"] not in shown:
            shown.add(report["horizon"])
            rows.append(_row(report["horizon"], "last value", report["last_value"], "–"))
        epoch = f"{report['epoch']} of {outcome.result['config']['epochs']}"
        model = str(outcome.point["model"])
        rows.append(_row(report["horizon"], model, report["model"], epoch))
        if values := published.get((model, str(report["horizon"]))):
            rse, corr = values["RSE"], values["CORR"]
            name = f"{model}, published"
            rows.append(f"| {report['horizon']} | {name} | {rse} | {corr} | – | – | – | – |")
    return "\n".join(rows)


def _published() -> dict[tuple[str, str], dict[str, str]]:
    """Return what the papers report, as printed: model and horizon to the values by measure."""
    [source] = (source for source in load_sources() if source.key == "exchange_rate")
    values: dict[tuple[str, str], dict[str, str]] = {}
    for value in source.values:
        place = value.labels["model"], value.labels["horizon"]
        values.setdefault(place, {})[value.quantity] = value.printed
    return values


def _row(horizon: int, forecast: str, accuracy: dict[str, Any], epoch: str) -> str:
    correlation = "–" if accuracy["corr"] is None else f"{accuracy['corr']:.4f}"
    return (
        f"| {horizon} | {forecast} | {accuracy['rse']:.4f} | {correlation} "
        f"| {accuracy['rmse']:.5f} | {accuracy['mae']:.5f} | {100 * accuracy['mape']:.2f} % "
        f"| {epoch} |"
    )
