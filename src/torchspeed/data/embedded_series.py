"""The embedded series, from matplotlib's sample data: nothing to download.

``eeg`` is the default: ten seconds of brain waves swing so fast that the last value is a poor
forecast, and a model has something to learn. A share's price is close to a random walk, of which
nothing forecasts the next value better than the last; ``google_stock`` is there to show that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from torchspeed.data.dataset import Data
from torchspeed.data.options import DataOptions
from torchspeed.data.series import split_series
from torchspeed.data.tables import Table
from torchspeed.errors import TorchspeedError

EEG_ELECTRODES = ("pg3", "pg5", "pg7", "pg9")
STOCK_COLUMNS = ("close", "open", "high", "low", "volume")
"""The features in order; column 0, the default target, is the closing price."""


def load_eeg(options: DataOptions) -> Data:
    """800 samples of the potential at four electrodes, in windows.

    Raises:
        TorchspeedError: matplotlib is not installed, or there is no such column.
    """
    with _sample_data("eeg", "eeg.dat") as file:
        values = np.frombuffer(file.read(), dtype=np.float64).reshape(-1, len(EEG_ELECTRODES))
    source = "brain waves at 4 electrodes, 80 samples a second (matplotlib sample data)"
    return _split("eeg", values, EEG_ELECTRODES, options, source)


def load_google_stock(options: DataOptions) -> Data:
    """1,047 trading days of prices (US dollars) and volume (shares), in windows.

    Raises:
        TorchspeedError: matplotlib is not installed, or there is no such column.
    """
    with _sample_data("google_stock", "goog.npz") as file, np.load(file) as arrays:
        days = arrays["price_data"]
    values = np.stack([days[column] for column in STOCK_COLUMNS], axis=1)
    source = "Google's share on 1,047 trading days, 2004 to 2008 (matplotlib sample data)"
    return _split("google_stock", values, STOCK_COLUMNS, options, source)


def _sample_data(name: str, file: str) -> Any:
    try:
        from matplotlib import cbook  # noqa: PLC0415 - optional
    except ImportError:
        raise TorchspeedError(
            f"{name} comes with matplotlib, which is not installed; pip install "
            "'torchspeed[train]'"
        ) from None
    return open(cbook.get_sample_data(file, asfileobj=False), "rb")


def _split(
    name: str, values: Any, columns: tuple[str, ...], options: DataOptions, source: str
) -> Data:
    table = Table(torch.from_numpy(values.astype(np.float32)), columns, tuple(range(len(columns))))
    return split_series(name, table, options, source, name)
