"""The parameters of a model as a file that torch writes."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import torch

from torchspeed.errors import TorchspeedError
from torchspeed.files import write_whole


def save_parameters(path: Path, values: dict[str, Any]) -> None:
    """Replace the file by a ``state_dict()``; on failure the old one stays."""
    content = io.BytesIO()
    torch.save(values, content)
    write_whole(path, content.getvalue())


def load_parameters(path: Path) -> dict[str, Any]:
    """Read what ``--save-best`` wrote, or any ``torch.save`` of a ``state_dict()``.

    torch writes a zip, whose checksums it does not check itself.

    Raises:
        TorchspeedError: missing or damaged file, or another kind of file.
    """
    if not path.exists():
        raise TorchspeedError(f"no file {path}; leave out --weights, or give a file that exists")
    saved = None
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.testzip() is None:
                saved = torch.load(path, weights_only=True, map_location="cpu")
    except PermissionError:
        raise
    except Exception:  # zipfile and torch raise anything for a damaged file
        saved = None
    if not isinstance(saved, dict):
        raise TorchspeedError(f"{path} is damaged, or holds no parameters; give another file")
    return saved
