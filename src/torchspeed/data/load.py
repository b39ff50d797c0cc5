"""Opens a data set by its name, and imports a user's own data sets and models."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torchspeed.data.catalogue import CSV_PREFIX, IMPORT_MARK, DataOptions, kind_of
from torchspeed.data.dataset import Data
from torchspeed.data.dummy import load_dummy
from torchspeed.data.embedded import load_digits, load_eeg, load_el_nino
from torchspeed.data.multivariate import load_csv, load_multivariate
from torchspeed.errors import TorchspeedError

OWN_LOADER = {
    "digits": load_digits,
    "el_nino": load_el_nino,
    "eeg": load_eeg,
    "dummy": load_dummy,
}


def load_data(name: str, options: DataOptions | None = None) -> Data:
    """Open a data set of the catalogue, ``csv:FILE``, or ``package.module:callable``.

    Raises:
        TorchspeedError: unknown name, or an error of the set's own loader.
    """
    options = options or DataOptions()
    kind = kind_of(name)
    if kind == "imported":
        data = import_callable(name)(options)
        if not isinstance(data, Data):
            raise TorchspeedError(
                f"{name} returned {type(data).__name__}, not a torchspeed.data.dataset.Data"
            )
        return data
    if name.startswith(CSV_PREFIX):
        return load_csv(Path(name.removeprefix(CSV_PREFIX)), options)
    if name in OWN_LOADER:
        return OWN_LOADER[name](options)
    if kind == "series":
        return load_multivariate(name, options)
    # torchvision takes as long to import as torch itself; the other sets do without.
    from torchspeed.data.images import load_images, load_pictures  # noqa: PLC0415

    return load_pictures(options) if name == "imagenet" else load_images(name, options)


def import_callable(path: str) -> Callable[..., Any]:
    """Import ``package.module:callable``; the working folder is searched first.

    Raises:
        TorchspeedError: no such module, or nothing in it that can be called.
    """
    module_name, _, name = path.partition(IMPORT_MARK)
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise TorchspeedError(
            f"{path}: {error}; give package.module:callable, importable from here"
        ) from None
    candidate = getattr(module, name, None)
    if not callable(candidate):
        raise TorchspeedError(f"{path}: {module_name} has no callable {name!r}")
    made: Callable[..., Any] = candidate
    return made
