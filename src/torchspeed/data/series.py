"""Windows over a multivariate time series, and the values to forecast for each.

A window holds ``window`` rows, and its label is the row ``horizon`` steps after the window's last,
as LSTNet's and TPA-LSTM's papers count: horizon 1 is the next value. Labels are split in time:
the oldest 60 % to train on, the next 20 % to choose an epoch by, the newest 20 % to test on. A
window may reach back into the split before, as in those papers, because its rows are known when
the forecast is made. Columns are normalised by the rows before the first label to validate; the
papers divide by each column's largest value, those to be forecast included.
"""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor
from torch.utils.data import Dataset

from torchspeed.data.catalogue import DataOptions
from torchspeed.data.dataset import Data, Scale
from torchspeed.data.tables import Table
from torchspeed.errors import TorchspeedError

VALIDATION_BEGINS, TEST_BEGINS = 0.6, 0.8
"""Shares of the rows, from the oldest, that lie before the first label of a split."""


class Windows(Dataset[tuple[Tensor, Tensor]]):
    """The windows whose labels are certain rows of a series; windows are views, not copies.

    ``values`` are (rows, features), ``target`` the column to forecast (None for all), and
    ``labels`` rows, all by default, of which those without a whole window are left out.
    """

    def __init__(
        self,
        values: Tensor,
        window: int,
        horizon: int,
        target: int | None,
        labels: range | None = None,
    ) -> None:
        self.values = values
        self.window = window
        self.horizon = horizon
        self.columns = slice(None) if target is None else slice(target, target + 1)
        rows = labels or range(len(values))
        self.labels = range(max(rows.start, window + horizon - 1), rows.stop)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        if not 0 <= index < len(self):
            raise IndexError(index)
        label = self.labels[index]
        end = label - self.horizon + 1
        item = self.values[end - self.window : end]  # (window, features)
        return item, self.values[label, self.columns]  # (1,) or (features,)


def split_series(name: str, table: Table, options: DataOptions, source: str) -> Data:
    """Cut a table, oldest row first, into windows to train on, to validate with and to test on.

    Raises:
        TorchspeedError: there is no such target, or the series is too short for window and
            horizon.
    """
    target = table.index_of(options.target, name)
    rows, features = table.values.shape
    cuts = (0, int(rows * VALIDATION_BEGINS), int(rows * TEST_BEGINS), rows)
    scale = Scale.of(table.values[: cuts[1]])
    scaled = scale.normalise(table.values)
    train, validation, test = (
        Windows(scaled, options.window, options.horizon, target, range(first, last))
        for first, last in pairwise(cuts)
    )
    if not (len(train) and len(validation) and len(test)):
        raise TorchspeedError(
            f"{name} has {rows} rows, {cuts[1]} of them to train on: too few for a window of "
            f"{options.window} and a horizon of {options.horizon}; choose smaller ones or a "
            "longer series"
        )
    shape = (options.window, features)
    return Data(name, train, test, shape, None, source, target, validation, scale)
