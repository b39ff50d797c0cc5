"""The embedded series: Google's share, 2004 to 2008, from matplotlib's sample data.

Real, multivariate and daily like ``exchange_rate``, and installed with a
package that the figures need anyway: nothing to download.
"""

from __future__ import annotations

import numpy as np
import torch

from torchspeed.data.dataset import Data
from torchspeed.data.options import DataOptions
from torchspeed.data.series import split_series
from torchspeed.data.tables import Table
from torchspeed.errors import TorchspeedError

COLUMNS = ("close", "open", "high", "low", "volume")
"""The features in order; column 0, the default target, is the closing price."""


def load_google_stock(options: DataOptions) -> Data:
    """1,047 trading days of prices (US dollars) and volume (shares), in windows.

    Raises:
        TorchspeedError: matplotlib is not installed, or there is no such column.
    """
    try:
        from matplotlib import cbook  # noqa: PLC0415 - optional
    except ImportError:
        raise TorchspeedError(
            "google_stock comes with matplotlib, which is not installed; pip install "
            "'torchspeed[train]'"
        ) from None
    with np.load(cbook.get_sample_data("goog.npz", asfileobj=False)) as file:
        days = file["price_data"]
    values = np.stack([days[column].astype(np.float32) for column in COLUMNS], axis=1)
    table = Table(torch.from_numpy(values), COLUMNS, tuple(range(len(COLUMNS))))
    source = "Google's share on 1,047 trading days, 2004 to 2008 (matplotlib sample data)"
    return split_series("google_stock", table, options, source, "google_stock")
