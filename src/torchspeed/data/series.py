"""Windows over a multivariate time series, and the values to forecast for each.

docs/data.md has the splits, the normalisation and the anomalies. Horizon 1 is the next value, as
in LSTNet's and TPA-LSTM's papers. A window may reach back into the split before, as there, because
its rows are known when the forecast is made. The papers divide by each column's largest value,
those to be forecast included; here only rows before the first label to validate are used.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.utils.data import Dataset

from torchspeed.data.dataset import Data, Scale
from torchspeed.data.options import USUAL_WINDOW, DataOptions
from torchspeed.errors import TorchspeedError

VALIDATION_BEGINS, TEST_BEGINS = 0.6, 0.8
"""Share of the rows, from the oldest, before the first label of each split."""


class Windows(Dataset[tuple[Tensor, Tensor]]):
    """Windows over a series, and the row to forecast of each; items are views, batches copies.

    ``values`` is (rows, features), ``target`` the column to forecast (None for all), and
    ``labels`` the rows to forecast, all by default; those without a whole window are left out.
    With ``every_step`` the rows between window and label are forecast too, and must be in
    ``labels`` as well. ``inputs`` (items, window, features) and ``targets``, (items, columns) or
    (items, horizon, columns), are views of ``values``.
    """

    def __init__(
        self,
        values: Tensor,
        window: int,
        horizon: int,
        target: int | None,
        labels: range | None = None,
        *,
        every_step: bool = False,
    ) -> None:
        self.values = values
        self.horizon = horizon
        self.columns = slice(None) if target is None else slice(target, target + 1)
        rows = labels or range(len(values))
        self.steps = horizon if every_step else 1
        self.labels = range(max(rows.start + self.steps, window + horizon) - 1, rows.stop)
        # A window's rows are contiguous in memory, so that a batch is copied window by window.
        features = values.shape[1]
        first = self.labels.start - horizon - window + 1
        used = values[first : first + len(self.labels) + window - 1].flatten()
        size = window * features
        windows = used.unfold(0, size, features) if len(self) else used.new_empty(0, size)
        self.inputs = windows.unflatten(1, (window, features))
        self.targets = values[self.labels.start : self.labels.stop, self.columns]
        if every_step and len(self):
            rows_of_all = values[self.labels.start - horizon + 1 : self.labels.stop, self.columns]
            self.targets = rows_of_all.unfold(0, horizon, 1).transpose(1, 2)
        # numpy takes half of the time that torch's index_select takes to copy them.
        self._arrays = self.inputs.numpy(), self.targets.numpy()

    def __len__(self) -> int:
        return len(self.labels)

    def __getitems__(self, indices: Sequence[int] | NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Return a batch: (items, window, features), and targets; DataLoader calls this."""
        inputs, targets = self._arrays
        chosen = np.asarray(indices)
        return torch.from_numpy(inputs[chosen]), torch.from_numpy(targets[chosen])

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.inputs[index], self.targets[index]


def rows_of(items: Dataset[Any], indices: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
    """Return row indices of some items: each window's last, (items, 1), and those to forecast.

    The latter are (items, steps). Both are 0 unless ``items`` are `Windows`, as other rows are
    unknown; they matter only where a season was subtracted.
    """
    if not isinstance(items, Windows):
        unknown = torch.zeros(len(indices), 1, dtype=torch.int64)
        return unknown, unknown
    labels = items.labels.start + torch.from_numpy(indices)[:, None]
    return labels - items.horizon, labels + torch.arange(1 - items.steps, 1)


def split_series(
    name: str,
    values: ArrayLike,
    names: Sequence[str],
    options: DataOptions,
    source: str,
    season: int | None = None,
) -> Data:
    """Cut a series, oldest row first, into windows to train on, to validate with and to test on.

    Values are (rows, columns), ``names`` those of the columns, and ``season`` the rows per season,
    where the frequency of the data is known. The windows are in float32.

    Raises:
        TorchspeedError: there is no such target, or the series is too short for window and
            horizon; or anomalies are asked for where no season is known.
    """
    target = _target(options.target, names, name)
    window = options.window or USUAL_WINDOW
    series = torch.from_numpy(np.array(values, dtype=np.float32))
    rows, features = series.shape
    cuts = (0, int(rows * VALIDATION_BEGINS), int(rows * TEST_BEGINS), rows)
    if options.anomalies and not (season and season <= cuts[1]):
        why = (
            f"has {cuts[1]} rows to train on, no whole season" if season else "has no known season"
        )
        raise TorchspeedError(f"{name} {why}; leave out --anomalies")
    scale = Scale.of(series[: cuts[1]], season if options.anomalies else None)
    scaled = scale.normalise(series)
    train, validation, test = (
        Windows(scaled, window, options.horizon, target, range(first, last),
                every_step=options.every_step)
        for first, last in pairwise(cuts)
    )  # fmt: skip
    if not (len(train) and len(validation) and len(test)):
        raise TorchspeedError(
            f"{name} has {rows} rows, {cuts[1]} of them to train on: too few for a window of "
            f"{window} and a horizon of {options.horizon}; choose smaller ones or a "
            "longer series"
        )
    shape = (window, features)
    return Data(name, train, test, shape, None, source, target, validation, scale, season)


def _target(wanted: str, names: Sequence[str], series: str) -> int | None:
    """Return the index of the column of this name, or of the ``first``; None for ``all``."""
    if wanted in names:
        return names.index(wanted)
    if wanted in {"all", "first"}:
        return 0 if wanted == "first" else None
    shown = ", ".join([*names[:8], "…"] if len(names) > 8 else names)
    raise TorchspeedError(
        f"no column of numbers {wanted!r} in {series}; give first, all, or one of: {shown}"
    )
