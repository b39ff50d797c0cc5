"""How good forecasts are: what the papers report, beside repeating the last value and the mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

CLEARLY_BELOW = 0.95
"""A model has learnt when its error is at most this share of both other errors."""

NEAR_ZERO = 0.05
"""Share of a column's mean size below which an error in percent of a value is meaningless."""


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
    mape: float | None
    """Mean of the error over the value, as a share; None where values come close to zero."""


@dataclass(frozen=True, slots=True)
class ForecastReport:
    """Accuracy on the test items of a model, of the last value and of the mean."""

    horizon: int
    """Steps from the last known value to the one that is forecast."""
    items: int
    epoch: int | None
    """Whose parameters were tested: the best on validation; None where nothing was trained."""
    model: ForecastAccuracy
    last_value: ForecastAccuracy
    """Of the forecast that each value stays what it was last."""
    mean: ForecastAccuracy
    """Of the forecast that each value is the mean of the training data."""

    @property
    def in_words(self) -> str:
        """What the model learnt, judged by its RMSE beside that of the other two forecasts."""
        error = self.model.rmse
        against = {"the last value": self.last_value.rmse, "the mean": self.mean.rmse}
        sizes = " and ".join(
            f"{100 * abs(1 - error / other):.0f} % "
            f"{'below' if error < other else 'above'} that of {name}"
            for name, other in against.items()
        )
        learnt = error < CLEARLY_BELOW * min(against.values())
        end = "" if learnt else ": it did not learn to forecast"
        return f"The model's error (RMSE) is {sizes}{end}."


def forecast_accuracy(forecasts: Values, truth: Values) -> ForecastAccuracy:
    """Compare forecasts (items, columns) with what came."""
    from sklearn import metrics  # noqa: PLC0415 - optional, and a second to import

    sizes = np.abs(truth)
    near_zero = (sizes < NEAR_ZERO * sizes.mean(0)).any()
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
        mape=None if near_zero else float((np.abs(forecasts - truth) / sizes).mean()),
    )
