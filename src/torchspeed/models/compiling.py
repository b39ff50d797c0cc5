"""Whether code is being read by ``torch.compile``, for what has to be written otherwise for it."""

from __future__ import annotations

import torch

_CAN_TELL = hasattr(torch, "compiler") and hasattr(torch.compiler, "is_compiling")
"""Not so in torch 2.0, which compiles nothing with the Python that is used here."""


def is_compiling() -> bool:
    """Return whether ``torch.compile`` is tracing the code that calls this."""
    return _CAN_TELL and torch.compiler.is_compiling()
