"""The four multivariate series of Lai et al. (LSTNet), as laiguokun published them.

Source: github.com/laiguokun/multivariate-time-series-data; paper: arXiv
1703.07015. Each is one gzipped text of comma-separated numbers, a row per time
step, a column per feature, no header.

The checksums are those of the PyTorch-Timeseries project for the same files; that of
``exchange_rate`` was compared with a copy of the file.
"""

from __future__ import annotations

import socket
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from torchspeed.data.catalogue import DataOptions
from torchspeed.data.dataset import Data
from torchspeed.data.series import split_series
from torchspeed.data.tables import read_table
from torchspeed.errors import TorchspeedError

HOST = "https://raw.githubusercontent.com/laiguokun/multivariate-time-series-data/master"
TIMEOUT_S = 60
"""Seconds without data from the server after which a download fails."""


@dataclass(frozen=True, slots=True)
class SeriesFile:
    """One published file of a series: its path below the repository's root, and what it holds."""

    path: str
    md5: str
    features: int
    rows: int
    about: str
    season: int | None = None
    """Rows per season, which is a day, or a week if they are hourly."""


SERIES = {
    "exchange_rate": SeriesFile(
        "exchange_rate/exchange_rate.txt.gz",
        "9dd5a9c8f8f324e234938400f232fa08",
        8,
        7588,
        "daily exchange rates of 8 countries, 1990 to 2016",
    ),
    "solar": SeriesFile(
        "solar-energy/solar_AL.txt.gz",
        "41ef7fdc958c2ca3fac9cd06d6227073",
        137,
        52560,
        "power of 137 solar plants in Alabama, every 10 minutes of 2006",
        season=144,
    ),
    "traffic": SeriesFile(
        "traffic/traffic.txt.gz",
        "db745d0c9f074159581a076cbb3f23d6",
        862,
        17544,
        "hourly occupancy (0 to 1) of San Francisco Bay motorways at 862 sensors, 2015 to 2016",
        season=168,
    ),
    "electricity": SeriesFile(
        "electricity/electricity.txt.gz",
        "07d51dc39c404599ead932937985957b",
        321,
        26304,
        "hourly electricity of 321 clients in kWh, 2012 to 2014",
        season=168,
    ),
}


def load_multivariate(name: str, options: DataOptions) -> Data:
    """Return one of ``SERIES``, cut into windows.

    Raises:
        TorchspeedError: file missing and not to be downloaded, or damaged.
    """
    series = SERIES[name]
    path = options.data_dir / Path(series.path).name
    plain = path.with_suffix("")
    if not path.exists() and plain.exists():
        path = plain
    if not path.exists():
        url = f"{HOST}/{series.path}"
        if not options.download:
            raise TorchspeedError(
                f"{name} is not at {path}; pass --download to fetch {url}, or --data-dir DIR "
                "where it lies"
            )
        _fetch(url, path, series.md5)
    table = read_table(path, columns=series.features)
    if len(table.values) != series.rows:
        raise TorchspeedError(
            f"{path} has {len(table.values)} rows where {name} has {series.rows}; fetch it again, "
            "or read it as a table of your own with csv:FILE"
        )
    source = f"{series.about} ({HOST.split('//')[1].removesuffix('/master')})"
    return split_series(name, table, options, source, series.season)


def load_csv(path: Path, options: DataOptions) -> Data:
    """Return any comma-separated table as a series, oldest row first."""
    table = read_table(path)
    source = f"{path}: {len(table.values)} rows of {table}"
    return split_series(path.name, table, options, source)


def _fetch(url: str, path: Path, md5: str) -> None:
    """Download to a temporary folder, check the checksum, and move the file to ``path``."""
    from torchvision.datasets.utils import download_url  # noqa: PLC0415 - seconds to import

    print(f"downloading {url} to {path}", file=sys.stderr)
    path.parent.mkdir(parents=True, exist_ok=True)
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(TIMEOUT_S)
    try:
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            download_url(url, folder, path.name, md5)
            (Path(folder) / path.name).replace(path)
    except (OSError, RuntimeError) as error:  # no network, a full disk, a wrong checksum
        reason = str(error).splitlines()[0].rstrip(".")
        raise TorchspeedError(
            f"{url} could not be downloaded ({reason}); check the network, or put the file at "
            f"{path} yourself"
        ) from None
    finally:
        socket.setdefaulttimeout(before)
