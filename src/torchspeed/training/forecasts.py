"""How good forecasts are: what the papers report, always beside repeating the last value."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ForecastAccuracy:
    """Measures of (items, columns) forecasts, on the scale that the values were measured in."""

    rse: float
    """Root of the squared errors over the squared deviations from the mean, all columns together:
    LSTNet's equation 15."""
    corr: float | None
    """Mean over columns of the correlation of forecasts and values, LSTNet's equation 16; None
    where every column is constant."""
    rmse: float
    mae: float
    mape: float
    """Mean of the error over the value, as a share."""


@dataclass(frozen=True, slots=True)
class ForecastReport:
    """Accuracy on the test items of a model and of persistence."""

    horizon: int
    """Steps from the last known value to the one that is forecast."""
    items: int
    epoch: int | None
    """Whose parameters were tested: the best on validation; None where nothing was trained."""
    model: ForecastAccuracy
    last_value: ForecastAccuracy
    """Of the forecast that each value stays what it was last."""

    @property
    def not_better_in(self) -> list[str]:
        """Measures in which the model does not beat the last value."""
        model, last = asdict(self.model), asdict(self.last_value)
        model["corr"], last["corr"] = (-(each["corr"] or 0) for each in (model, last))
        return [name for name in model if model[name] >= last[name]]


def forecast_accuracy(forecasts: Values, truth: Values) -> ForecastAccuracy:
    """Compare forecasts with what came.

    Args:
        forecasts: (items, columns).
        truth: the same shape.
    """
    from sklearn import metrics  # noqa: PLC0415 - optional, and a second to import

    moving = (truth.std(0) > 0) & (forecasts.std(0) > 0)
    correlations = [
        np.corrcoef(forecasts[:, column], truth[:, column])[0, 1]
        for column in np.flatnonzero(moving)
    ]
    unexplained = 1 - metrics.r2_score(truth.ravel(), forecasts.ravel())
    return ForecastAccuracy(
        rse=float(np.sqrt(unexplained)),
        corr=float(np.mean(correlations)) if correlations else None,
        rmse=float(metrics.root_mean_squared_error(truth.ravel(), forecasts.ravel())),
        mae=float(metrics.mean_absolute_error(truth, forecasts)),
        mape=float(metrics.mean_absolute_percentage_error(truth, forecasts)),
    )


def report_forecasts(
    parts: list[tuple[Values, Values, Values]], horizon: int, epoch: int | None
) -> ForecastReport:
    """Judge the forecasts of all ranks.

    Args:
        parts: forecasts, true values and last values, (items, columns) each, of every rank.
        horizon: of the data.
        epoch: whose parameters made them.
    """
    forecasts, truth, last = (np.concatenate(values) for values in zip(*parts, strict=True))
    return ForecastReport(
        horizon=horizon,
        items=len(truth),
        epoch=epoch,
        model=forecast_accuracy(forecasts, truth),
        last_value=forecast_accuracy(last, truth),
    )
