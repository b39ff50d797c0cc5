"""The data sets by name; needs no torch, so that a command line can list them at once."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from torchspeed.errors import TorchspeedError

CSV_PREFIX = "csv:"
"""``csv:FILE`` names any comma-separated table."""

IMPORT_MARK = ":"
"""``package.module:callable`` has it, a name of our own has not."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A data set as a list shows it."""

    kind: str
    """``images`` or ``series``; ``dummy`` takes the shape of either."""
    about: str
    needs: str
    """What has to be there first."""


DATA = {
    "digits": Entry("images", "1,797 handwritten digits, resized for the model", "nothing"),
    "el_nino": Entry("series", "temperature of the sea off Peru, 732 months", "nothing"),
    "eeg": Entry("series", "brain waves, 800 samples of 4 electrodes", "nothing"),
    "dummy": Entry("dummy", "random numbers of any shape", "nothing"),
    "mnist": Entry("images", "70,000 handwritten digits, 28x28", "--download"),
    "fashion_mnist": Entry("images", "70,000 articles of clothing, 28x28", "--download"),
    "cifar10": Entry("images", "60,000 colour pictures, 32x32", "--download"),
    "imagenet": Entry("images", "ImageNet 2012, or your pictures", "--data-dir with train, val"),
    "exchange_rate": Entry("series", "daily, 7,588 rows, 8 features", "--download"),
    "solar": Entry("series", "every 10 minutes, 52,560 rows, 137 features", "--download"),
    "electricity": Entry("series", "hourly, 26,304 rows, 321 features", "--download"),
    "traffic": Entry("series", "hourly, 17,544 rows, 862 features", "--download"),
    "csv:FILE": Entry("series", "any comma-separated table, oldest row first", "the file"),
}


def kind_of(name: str) -> str:
    """``images``, ``series`` or ``dummy``; ``imported`` for ``package.module:callable``.

    Raises:
        TorchspeedError: unknown name; the nearest are offered.
    """
    if name.startswith(CSV_PREFIX):
        return "series"
    if IMPORT_MARK in name:
        return "imported"
    if name not in DATA:
        near = difflib.get_close_matches(name, DATA, n=3, cutoff=0.4) or list(DATA)
        raise TorchspeedError(f"no data set {name!r}; did you mean {' or '.join(near)}?")
    return DATA[name].kind
