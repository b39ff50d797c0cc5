"""The embedded series, which come with the packages of the ``train`` extra: nothing to download.

``el_nino`` is the default: the sea's temperature follows the seasons, so a model learns in seconds
to forecast it better than the last value or the mean. ``eeg`` is hard: ten seconds of brain waves.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import numpy as np
import torch

from torchspeed.data.dataset import Data
from torchspeed.data.options import DataOptions
from torchspeed.data.series import split_series
from torchspeed.data.tables import Table
from torchspeed.errors import TorchspeedError

EEG_ELECTRODES = ("pg3", "pg5", "pg7", "pg9")


def load_el_nino(options: DataOptions) -> Data:
    """732 monthly temperatures of the sea, in windows.

    Raises:
        TorchspeedError: statsmodels is not installed, or there is no such column.
    """
    file = _file_of("el_nino", "statsmodels", "datasets/elnino/elnino.csv")
    years = np.loadtxt(file, delimiter=",", skiprows=1)  # the year, and a column for each month
    source = (
        "sea surface temperature off Peru, °C, 732 months from 1950 to 2010 (NOAA's ERSST.V3B, "
        "region Nino 1+2, public domain, with statsmodels)"
    )
    return _split("el_nino", years[:, 1:].reshape(-1, 1), ("temperature",), options, source)


def load_eeg(options: DataOptions) -> Data:
    """800 samples of the potential at four electrodes, in windows.

    Raises:
        TorchspeedError: matplotlib is not installed, or there is no such column.
    """
    file = _file_of("eeg", "matplotlib", "mpl-data/sample_data/eeg.dat")
    values = np.fromfile(file, dtype=np.float64).reshape(-1, len(EEG_ELECTRODES))
    source = "brain waves at 4 electrodes, 80 samples a second (matplotlib sample data)"
    return _split("eeg", values, EEG_ELECTRODES, options, source)


def _file_of(name: str, package: str, path: str) -> Path:
    try:
        return Path(str(resources.files(package))) / path
    except ImportError:
        raise TorchspeedError(
            f"{name} comes with {package}, which is not installed; pip install 'torchspeed[train]'"
        ) from None


def _split(
    name: str,
    values: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    columns: tuple[str, ...],
    options: DataOptions,
    source: str,
) -> Data:
    table = Table(torch.from_numpy(values.astype(np.float32)), columns)
    return split_series(name, table, options, source, name)
