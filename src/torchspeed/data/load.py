"""Opening a data set by its name.

The sets that are read through torchvision import it when they are opened: it
takes as long as torch itself, and series, digits and dummy data do without.
"""

from __future__ import annotations

from pathlib import Path

from torchspeed.data.catalogue import CSV_PREFIX, kind_of
from torchspeed.data.dataset import Data
from torchspeed.data.digits import load_digits
from torchspeed.data.dummy import load_dummy
from torchspeed.data.embedded_series import load_eeg, load_el_nino
from torchspeed.data.imported import IMPORT_MARK, import_callable
from torchspeed.data.multivariate import load_csv, load_multivariate
from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError

OWN_LOADER = {
    "digits": load_digits,
    "el_nino": load_el_nino,
    "eeg": load_eeg,
    "dummy": load_dummy,
}


def load_data(name: str, options: DataOptions | None = None) -> Data:
    """Open a data set.

    Args:
        name: a name of ``catalogue.DATA``, ``csv:FILE``, or ``package.module:callable``.
        options: how to read it.

    Raises:
        TorchspeedError: unknown name, data of another kind than ``options.shape``
            asks for, or an error of the set's own loader.
    """
    options = options or DataOptions()
    if IMPORT_MARK in name and not name.startswith(CSV_PREFIX):
        data = import_callable(name)(options)
        if not isinstance(data, Data):
            raise TorchspeedError(
                f"{name} returned {type(data).__name__}, not a torchspeed.data.dataset.Data"
            )
        return data
    kind = kind_of(name)
    if options.shape is not None and kind == "images" and len(options.shape) != 3:
        raise TorchspeedError(
            f"{name} holds images, and the model takes inputs of shape {options.shape}; choose a "
            "series (el_nino, exchange_rate) or dummy"
        )
    if name.startswith(CSV_PREFIX):
        return load_csv(Path(name.removeprefix(CSV_PREFIX)), options)
    if name in OWN_LOADER:
        return OWN_LOADER[name](options)
    if kind == "series":
        return load_multivariate(name, options)
    if name == "imagenet":
        from torchspeed.data.imagenet import load_imagenet  # noqa: PLC0415 - see above

        return load_imagenet(options)
    from torchspeed.data.images import load_images  # noqa: PLC0415 - see above

    return load_images(name, options)
