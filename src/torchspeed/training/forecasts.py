"""Accuracy of forecasts as papers report it, and that of simple forecasts."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from torchspeed.data.dataset import Data, Scale
from torchspeed.data.series import rows_of
from torchspeed.training.baselines import baseline_forecasts

Values = NDArray[np.float64]

CLEARLY_BELOW = 0.95
"""A model beats the best simple forecast if its error is at most this share of that one's."""

NEAR_ZERO = 0.05
"""No MAPE is given if a value is at most this share of its column's mean absolute value."""


@dataclass(frozen=True, slots=True)
class ForecastAccuracy:
    """Measures of (items, columns) forecasts, on the scale that the values were measured in."""

    rse: float | None
    """Root of the squared errors over the squared deviations from the mean, all columns together,
    as in LSTNet's paper. None where all values are equal, because there is no deviation."""
    corr: float | None
    """Mean over columns of the correlation of forecasts and values, as in LSTNet's paper. None
    where every column is constant."""
    rmse: float
    """Root of the mean squared error."""
    mae: float
    """Mean absolute error."""
    mape: float | None
    """Mean of the error over the value, as a share; None where values come close to zero."""


@dataclass(frozen=True, slots=True)
class ForecastReport:
    """Accuracy on the test items of a model and of simple forecasts of the same values."""

    horizon: int
    """Steps from the last known value to the one that is forecast."""
    items: int
    epoch: int | None
    """Epoch whose parameters were tested: the best on validation; None if nothing was trained."""
    model: ForecastAccuracy
    baselines: dict[str, ForecastAccuracy]
    """By name, as `torchspeed.training.baselines` describes them."""

    @property
    def in_words(self) -> str:
        """Say whether training was worth it: the RMSE against that of the best baseline."""
        errors = {name: accuracy.rmse for name, accuracy in self.baselines.items()}
        name = min(errors, key=errors.__getitem__)
        error, other = self.model.rmse, errors[name]
        best = f"the best simple forecast, {name}"
        if other == 0:
            return f"There is nothing to learn: {best}, makes no error."
        ratio = error / other
        size = f"{100 * abs(1 - ratio):.0f} %"
        if ratio < CLEARLY_BELOW:
            return f"The model's error (RMSE) is {size} below that of {best}."
        if ratio <= 1 / CLEARLY_BELOW:
            return f"The model is as good as {best}: their errors (RMSE) differ by {size}."
        times = f"{size} higher" if ratio < 2 else f"{ratio:.3g} times as high"
        return f"The model is worse than {best}: its error (RMSE) is {times}."


def forecast_report(
    data: Data, scale: Scale, horizon: int, forecasts: Tensor, epoch: int | None
) -> ForecastReport:
    """Judge a model's forecasts of the test items of a series, from the first on.

    They are (items, values). The model's parameters are those after ``epoch``, which is None if
    it was not trained.
    """
    items = np.arange(len(forecasts))
    _, rows = rows_of(data.test, items)

    def measured(values: Tensor) -> Tensor:
        """Return values in the units of the data, (items, steps, columns)."""
        by_step = values.double().view(len(items), -1, values.shape[-1])
        return scale.restore(by_step, data.target_columns, rows)

    truth = measured(torch.stack([data.test[int(index)][1] for index in items]))

    def accuracy(values: Tensor) -> ForecastAccuracy:
        return forecast_accuracy(values.flatten(0, 1).numpy(), truth.flatten(0, 1).numpy())

    return ForecastReport(
        horizon=horizon,
        items=len(items),
        epoch=epoch,
        model=accuracy(measured(forecasts)),
        baselines={
            name: accuracy(values)
            for name, values in baseline_forecasts(data, scale, items).items()
        },
    )


def forecast_accuracy(forecasts: Values, truth: Values) -> ForecastAccuracy:
    """Compare forecasts (items, columns) with the true values."""
    from sklearn import metrics  # noqa: PLC0415 - optional, and a second to import

    sizes = np.abs(truth)
    near_zero = (sizes <= NEAR_ZERO * sizes.mean(0)).any()
    moving = (truth.std(0) > 0) & (forecasts.std(0) > 0)
    correlations = [
        np.corrcoef(forecasts[:, column], truth[:, column])[0, 1]
        for column in np.flatnonzero(moving)
    ]
    unexplained = 1 - metrics.r2_score(truth.ravel(), forecasts.ravel())
    return ForecastAccuracy(
        rse=None if np.ptp(truth) == 0 else float(np.sqrt(unexplained)),
        corr=float(np.mean(correlations)) if correlations else None,
        rmse=float(metrics.root_mean_squared_error(truth.ravel(), forecasts.ravel())),
        mae=float(metrics.mean_absolute_error(truth, forecasts)),
        mape=None if near_zero else float((np.abs(forecasts - truth) / sizes).mean()),
    )
