"""Models and data sets of one's own, named by where Python finds them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torchspeed.errors import TorchspeedError

IMPORT_MARK = ":"
"""``package.module:callable`` has it, a name of our own has not."""


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
