"""Windows over a multivariate time series, and the value to forecast for each.

The cut is FluxArchitectures' ``prepare_data``: window *i* holds the rows
``i .. i + window - 1`` and its label is the target column ``horizon`` rows after
row *i*. Two differences, both on purpose: there the last ``horizon`` labels are
the first ones again (a circular shift), here windows without a true label are
left out; there the mean and deviation are those of all rows, here a split
normalises with those of its training rows alone.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor
from torch.utils.data import Dataset

from torchspeed.data.dataset import Data
from torchspeed.data.options import DataOptions
from torchspeed.data.tables import Table
from torchspeed.errors import TorchspeedError

TRAIN_SHARE = 0.8
"""Share of the rows, from the oldest, that is trained on."""

EPSILON = 1e-5
"""Added to each deviation, as Flux's ``normalise`` does: a constant column stays finite."""


class Windows(Dataset[tuple[Tensor, Tensor]]):
    """Every window of a series that has a label; windows are views, not copies.

    Args:
        values: (rows, features), float32.
        window: time steps of an input.
        horizon: rows from the first of the window to the label.
        target: index of the column to forecast; None for all columns.
    """

    def __init__(self, values: Tensor, window: int, horizon: int, target: int | None) -> None:
        if window < 1 or horizon < 1:
            raise ValueError(f"window and horizon must be at least 1, got {window} and {horizon}")
        self.values = values
        self.window = window
        self.horizon = horizon
        self.columns = slice(None) if target is None else slice(target, target + 1)

    def __len__(self) -> int:
        # The first row past the data that window 0 needs.
        reach = max(self.window, self.horizon + 1)
        return max(0, self.values.shape[0] - reach + 1)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        if not 0 <= index < len(self):
            raise IndexError(index)
        item = self.values[index : index + self.window]  # (window, features)
        label = self.values[index + self.horizon, self.columns]  # (1,) or (features,)
        return item, label


def normalise(values: Tensor, reference: Tensor | None = None) -> Tensor:
    """Each column less its mean, over its deviation (uncorrected) plus 1e-5.

    Args:
        values: (rows, features).
        reference: the rows whose mean and deviation to use; ``values`` by default.
    """
    reference = values if reference is None else reference
    deviation, mean = torch.std_mean(reference, dim=0, correction=0)
    return (values - mean) / (deviation + EPSILON)


def split_series(
    name: str, table: Table, options: DataOptions, source: str, place: Path | str
) -> Data:
    """Cut a series in time: the oldest rows to train on, the newest to test on.

    Args:
        name: what to call the data.
        table: rows as measured, oldest first.
        options: window, horizon and target.
        source: where the values come from.
        place: the same in short, for messages.

    Raises:
        TorchspeedError: there is no such target, or the series is too short for window and
            horizon.
    """
    target = table.index_of(options.target, place)
    rows, features = table.values.shape
    cut = int(rows * TRAIN_SHARE)
    scaled = normalise(table.values, reference=table.values[:cut])
    train, test = (
        Windows(part, options.window, options.horizon, target)
        for part in (scaled[:cut], scaled[cut:])
    )
    if not len(train) or not len(test):
        raise TorchspeedError(
            f"{name} has {rows} rows, {rows - cut} of them to test on: too few for a window of "
            f"{options.window} and a horizon of {options.horizon}; choose smaller ones or a "
            "longer series"
        )
    return Data(name, train, test, (options.window, features), None, source, target)
