"""Tells whether torch is tracing the code, for code that is then written differently."""

import torch

_CAN_TELL = hasattr(torch, "compiler") and hasattr(torch.compiler, "is_dynamo_compiling")
"""False in torch 2.0, which cannot compile with the Python versions used here."""


def is_compiling() -> bool:
    """Return whether ``torch.compile`` is tracing the code that calls this.

    ``torch.export`` is no such case: what it exports may run operator by operator.
    """
    return _CAN_TELL and torch.compiler.is_dynamo_compiling()


def is_traced() -> bool:
    """Return whether ``torch.compile`` or ``torch.export`` is tracing the code that calls this."""
    return _CAN_TELL and torch.compiler.is_compiling()
