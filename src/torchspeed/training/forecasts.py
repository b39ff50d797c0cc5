"""Accuracy of forecasts as papers report it, and of simple forecasts, which a model has to beat.

| name | forecast |
|---|---|
| the last value | each value stays what it was last |
| the mean | each value is the mean of the training data |
| the value a season ago | the last known value of the same time of the season |
| the mean of the season | the mean of the training data at the same time of the season |
| the last anomaly | that mean, plus the last value's deviation from the mean at its own time |
| ridge regression | a linear map of the window, with its penalty chosen on the validation items |

A season is what the data's frequency says (a year of months), else what the autocorrelation of the
training data shows; a series without one has no seasonal forecasts.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from torchspeed.data.dataset import Data, Scale
from torchspeed.data.series import Windows, rows_of

Values = NDArray[np.float64]

CLEARLY_BELOW = 0.95
"""A model beats the best simple forecast if its error is at most this share of that one's."""

NEAR_ZERO = 0.05
"""No MAPE is given if a value is at most this share of its column's mean absolute value."""

LAST_VALUE, MEAN = "the last value", "the mean"
SEASONAL_VALUE, SEASONAL_MEAN = "the value a season ago", "the mean of the season"
LAST_ANOMALY = "the last anomaly"
RIDGE = "ridge regression"

PENALTIES = 10.0 ** np.arange(-1, 5)
"""Penalties of the ridge regression, on normalised values."""
LARGEST_REGRESSION = 20_000_000
"""Most numbers in the windows that one ridge regression is fitted to."""

SIGNIFICANT = 0.05
"""Significance level at which a season's autocorrelation has to differ from 0."""
ROUNDING = 1e-6
"""Rounding error of float32, as a share of the largest value."""


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
    mae: float
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
    """By name, as the table at the top of this file describes them."""

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
    import pandas as pd  # noqa: PLC0415 - optional, and half a second to import
    from sklearn import metrics  # noqa: PLC0415 - optional, and a second to import

    sizes = np.abs(truth)
    near_zero = (sizes <= NEAR_ZERO * sizes.mean(0)).any()
    # Equal numbers may have a mean that is rounded, and so a deviation.
    moving = (np.ptp(truth, 0) > 0) & (np.ptp(forecasts, 0) > 0)
    corr = pd.DataFrame(forecasts[:, moving]).corrwith(pd.DataFrame(truth[:, moving])).mean()
    unexplained = 1 - metrics.r2_score(truth.ravel(), forecasts.ravel())
    return ForecastAccuracy(
        rse=None if np.ptp(truth) == 0 else float(np.sqrt(unexplained)),
        corr=None if np.isnan(corr) else float(corr),
        rmse=float(metrics.root_mean_squared_error(truth.ravel(), forecasts.ravel())),
        mae=float(metrics.mean_absolute_error(truth, forecasts)),
        mape=None if near_zero else float((np.abs(forecasts - truth) / sizes).mean()),
    )


def baseline_forecasts(data: Data, scale: Scale, items: NDArray[np.int64]) -> dict[str, Tensor]:
    """Return forecasts of test items by name, (items, steps, columns) in the units of the data."""
    inputs, targets = zip(*(data.test[int(index)] for index in items), strict=True)
    columns = data.target_columns
    shape = torch.stack(targets).view(len(items), -1, targets[0].shape[-1]).shape
    last, rows = rows_of(data.test, items)
    last_values = torch.stack([window[-1:, columns] for window in inputs]).double()
    forecasts = {
        LAST_VALUE: scale.restore(last_values, columns, last).expand(shape),
        MEAN: scale.mean[columns].double().expand(shape),
    }
    if isinstance(data.train, Windows) and isinstance(data.test, Windows):
        values = data.train.values[:, columns]
        trained = data.train.labels.stop
        season = data.season or find_season(values[:trained].numpy())
        if season is not None:
            series = scale.restore(values.double(), columns, torch.arange(len(values)))
            forecasts |= _seasonal(series, trained, season, last, rows)
        if isinstance(data.validation, Windows):
            forecast = _ridge(data.train, data.validation, data.test, items)
            forecasts[RIDGE] = scale.restore(forecast.reshape(shape), columns, rows)
    return forecasts


def find_season(values: NDArray[np.float32]) -> int | None:
    """Return the length, in rows, of the season of values (rows, columns); None without one.

    It is the first peak of the autocorrelation that reaches 0.9 of the highest one. Differences
    between neighbouring rows are used, because slow changes correlate over any distance.
    """
    from statsmodels.tsa.stattools import acf  # noqa: PLC0415 - optional, and a second to import

    steps = np.diff(values.astype(np.float64), axis=0)
    # Differences of a constant or a straight line are only rounding errors of float32.
    steps = steps[:, steps.std(0) > ROUNDING * np.abs(values).max(0)]
    lags = len(values) // 3
    if not steps.size or lags < 3:
        return None
    correlation = np.mean([acf(column, nlags=lags, fft=True) for column in steps.T], axis=0)
    inner = correlation[1:-1]
    peaks = 1 + np.flatnonzero((inner > correlation[:-2]) & (inner > correlation[2:]))
    peaks = peaks[peaks > 1]
    if not len(peaks):
        return None
    highest = correlation[peaks].max()
    # Of many lags some exceed a single lag's limit by chance: the limit grows with their number.
    limit = math.sqrt(2 * math.log(2 * lags / SIGNIFICANT) / len(values))
    return int(peaks[correlation[peaks] >= 0.9 * highest][0]) if highest > limit else None


def _seasonal(
    series: Tensor, trained: int, season: int, last: Tensor, rows: Tensor
) -> dict[str, Tensor]:
    """Return the forecasts of rows (items, steps), after each window's last one (items, 1).

    The first ``trained`` rows of the series (rows, columns) are the training data.
    """
    means = torch.stack([series[phase:trained:season].mean(0) for phase in range(season)])
    mean = means[rows % season]
    ago = rows - season * torch.ceil((rows - last) / season).long()
    return {
        # In the first season no value is a season ago: the first row takes its place.
        SEASONAL_VALUE: series[ago.clamp(min=0)],
        SEASONAL_MEAN: mean,
        LAST_ANOMALY: mean + series[last] - means[last % season],
    }


def _ridge(train: Windows, validation: Windows, test: Windows, items: NDArray[np.int64]) -> Tensor:
    """Forecast test items by ridge regression, with the penalty of the least validation error.

    The regression maps the whole window to the targets. If that would be too large, it maps each
    column's own window to that column's targets, with the same weights for all columns.
    """
    from sklearn.linear_model import Ridge  # noqa: PLC0415 - optional, and a second to import

    whole = train.inputs.numel() <= LARGEST_REGRESSION

    def flat(inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        if whole:
            return inputs.flatten(1), targets.flatten(1)
        own = inputs[..., train.columns].transpose(1, 2).flatten(0, 1)
        return own, targets.view(len(inputs), -1, targets.shape[-1]).transpose(1, 2).flatten(0, 1)

    size = train.inputs.numel() if whole else train.inputs[..., train.columns].numel()
    stride = math.ceil(size / LARGEST_REGRESSION)
    x, y = flat(train.inputs[::stride], train.targets[::stride])
    held_out, truth = flat(validation.inputs[::stride], validation.targets[::stride])
    # Neighbouring steps are so alike that the equations are too ill-conditioned for float32.
    inputs, outputs = x.double().numpy(), y.double().numpy()
    fits = [Ridge(alpha=penalty).fit(inputs, outputs) for penalty in PENALTIES]
    errors = [np.square(_predict(fit, held_out) - truth.numpy()).mean() for fit in fits]
    best = fits[int(np.argmin(errors))]
    tested, targets = test.inputs[items], test.targets[items]
    forecast = torch.from_numpy(_predict(best, flat(tested, targets)[0]))
    if not whole:
        forecast = forecast.view(len(items), targets.shape[-1], -1).transpose(1, 2)
    return forecast.reshape(targets.shape)


def _predict(fit: Any, inputs: Tensor) -> NDArray[np.float64]:
    forecast: NDArray[np.float64] = fit.predict(inputs.numpy()).reshape(len(inputs), -1)
    return forecast
