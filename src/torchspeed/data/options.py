"""The names of the data sets, and the options by which they are read.

It needs no torch, so that a command line can list them at once.
"""

from dataclasses import dataclass
from pathlib import Path

from torchspeed.errors import TorchspeedError, suggest

CSV_PREFIX = "csv:"
"""``csv:FILE`` names any table in a text file."""

IMPORT_MARK = ":"
"""Separates module and callable in ``package.module:callable``."""

DATA = {
    "digits": ("images", "1,797 handwritten digits, resized for the model"),
    "el_nino": ("series", "temperature of the sea off Peru, 732 months"),
    "lorenz": ("series", "Lorenz's equations of convection, 1,000 computed states"),
    "eeg": ("series", "brain waves, 800 samples of 4 electrodes"),
    "dummy": ("dummy", "random numbers of any shape"),
    "mnist": ("images", "70,000 handwritten digits, 28x28; --download"),
    "fashion_mnist": ("images", "70,000 articles of clothing, 28x28; --download"),
    "cifar10": ("images", "60,000 colour pictures, 32x32; --download"),
    "imagenet": ("images", "ImageNet 2012, or your pictures; --data-dir with train, val"),
    "exchange_rate": ("series", "daily exchange rates of 8 countries, 7,588 rows; --download"),
    "solar": ("series", "power of 137 plants, every 10 minutes, 52,560 rows; --download"),
    "electricity": ("series", "hourly kWh of 321 clients, 26,304 rows; --download"),
    "traffic": ("series", "hourly load of 862 road sensors, 17,544 rows; --download"),
    "csv:FILE": ("series", "any table in a text file, oldest row first"),
}
"""Kind and description of each data set; ``dummy`` has the shape of either kind."""


def kind_of(name: str) -> str:
    """Return ``images``, ``series``, ``dummy``, or ``imported`` for ``package.module:callable``.

    Raises:
        TorchspeedError: unknown name; the nearest are offered.
    """
    if name.startswith(CSV_PREFIX):
        return "series"
    if IMPORT_MARK in name:
        return "imported"
    if name not in DATA:
        raise TorchspeedError(f"no data set {name!r}; {suggest(name, DATA)}")
    return DATA[name][0]


USUAL_WINDOW = 10
"""Time steps, as in FluxBench."""


@dataclass(frozen=True, slots=True)
class DataOptions:
    """How a named data set is read.

    Each set reads the fields that concern it: a CNN's data its ``shape``, a
    series its ``window``, ``horizon`` and ``target``.
    """

    data_dir: Path = Path("data")
    download: bool = False
    items: int | None = None
    """Training items of a ``dummy`` set."""
    features: int | None = None
    """Features of a ``dummy`` series."""
    window: int = 0
    """Time steps that a model sees; `USUAL_WINDOW` where neither an option nor a recipe says."""
    horizon: int = 3
    """Steps from the window's last step to the value to forecast."""
    target: str = "first"
    """Column to forecast: its name, ``first`` or ``all``; its index without a header."""
    anomalies: bool | None = None
    """Whether the training data's mean for its time of the season is subtracted from each value;
    by default only for ``el_nino``."""
    every_step: bool = False
    """Whether a model forecasts each step up to the horizon, or only the last."""
    shape: tuple[int, ...] | None = None
    """Shape of one input that the model needs; None for the data's own."""
    classes: int = 10
    """Classes of a ``dummy`` set."""
    seed: int = 0
    """Of a ``dummy`` set; in a run also of parameters, order and noise."""
