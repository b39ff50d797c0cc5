"""Series from text files: any table, and the four of Lai et al. (LSTNet) that laiguokun published.

Source of the four: github.com/laiguokun/multivariate-time-series-data; paper: arXiv 1703.07015.
Each is a gzipped table without a header, a row per time step. The checksums are those of the
PyTorch-Timeseries project for the same files.
"""

import gzip
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

from torchspeed.data.dataset import Data
from torchspeed.data.options import DATA, DataOptions
from torchspeed.data.series import split_series
from torchspeed.errors import TorchspeedError

HOST = "https://raw.githubusercontent.com/laiguokun/multivariate-time-series-data/master"

PUBLISHED: dict[str, tuple[str, str, int | None]] = {
    "exchange_rate": (
        "exchange_rate/exchange_rate.txt.gz", "9dd5a9c8f8f324e234938400f232fa08", None
    ),
    "solar": ("solar-energy/solar_AL.txt.gz", "41ef7fdc958c2ca3fac9cd06d6227073", 144),
    "traffic": ("traffic/traffic.txt.gz", "db745d0c9f074159581a076cbb3f23d6", 168),
    "electricity": ("electricity/electricity.txt.gz", "07d51dc39c404599ead932937985957b", 168),
}  # fmt: skip
"""Path below `HOST`, MD5, and rows per season, which is a day, or a week if they are hourly."""


def load_published(name: str, options: DataOptions) -> Data:
    """Return one of `PUBLISHED`, cut into windows.

    Raises:
        TorchspeedError: the file is missing and not to be downloaded, or not the published one.
    """
    from torchvision.datasets import utils  # noqa: PLC0415 - seconds to import

    remote, md5, season = PUBLISHED[name]
    url = f"{HOST}/{remote}"
    path = options.data_dir / Path(remote).name
    if options.download:
        try:
            utils.download_url(url, options.data_dir, path.name, md5)
        except (OSError, RuntimeError) as error:  # no network, a full disk, a wrong checksum
            reason = str(error).splitlines()[0].rstrip(".")
            raise TorchspeedError(
                f"{url} could not be downloaded ({reason}); check the network, or put the file at "
                f"{path} yourself"
            ) from None
    if not utils.check_integrity(path, md5):
        raise TorchspeedError(
            f"{path} is missing or not as it was published; pass --download to fetch {url}, or "
            "--data-dir DIR where it lies"
        )
    table = read_table(path)
    source = f"{DATA[name][1].partition(';')[0]} ({url})"
    return split_series(name, table.to_numpy(), list(table.columns), options, source, season)


def load_csv(path: Path, options: DataOptions) -> Data:
    """Return any table in a text file as a series, oldest row first."""
    table = read_table(path)
    shown = [*table.columns[:8], "…"] if table.shape[1] > 8 else table.columns
    source = f"{path}: {len(table)} rows of {', '.join(shown)}"
    return split_series(path.name, table.to_numpy(), list(table.columns), options, source)


def read_table(path: Path) -> pd.DataFrame:
    """Return the columns of numbers in a text file, gzipped if its name ends in ``.gz``.

    The separator is whichever of comma, semicolon and tab is most frequent in the first line.
    Unless it is the comma, numbers have decimal commas or points. A first line without a number
    is the header. A column whose first cell is no number (dates, names) is left out.

    Raises:
        TorchspeedError: missing or damaged file, or a cell that is not a finite number, with its
            row (from 0) and column.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig") as file:
            first = file.readline()
        separator = max(",;\t", key=first.count)
        cells = pd.Series(first.replace('"', "").split(separator))
        table = pd.read_csv(
            path,
            sep=separator,
            decimal="." if separator == "," else ",",
            header=0 if pd.to_numeric(cells, errors="coerce").isna().all() else None,
            encoding="utf-8-sig",
        )
        if not isinstance(table.index, pd.RangeIndex):
            raise ValueError("its rows have more cells than its first line")
        begins = table.head(1).astype(str).replace(",", ".", regex=True)
        numeric = begins.apply(pd.to_numeric, errors="coerce").notna().all()
        numeric |= table.dtypes.map(pd.api.types.is_numeric_dtype)  # one that begins with a gap
        if table.empty or not numeric.any():
            raise ValueError("it holds no numbers")
        with np.errstate(over="ignore"):
            numbers = table.loc[:, numeric].apply(pd.to_numeric).astype(np.float32)
        for row, column in np.argwhere(~np.isfinite(numbers.to_numpy())):
            raise ValueError(f"no finite number at row {row}, column {numbers.columns[column]}")
    except FileNotFoundError:
        raise TorchspeedError(f"no file {path}; give a folder or file that exists") from None
    except (OSError, EOFError, zlib.error, ValueError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise TorchspeedError(
            f"{path} is damaged or not a table ({reason}); correct it, or fetch it again"
        ) from None
    return numbers.rename(columns=lambda name: str(name).strip())
