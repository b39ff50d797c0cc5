"""Number formats that a pass computes in."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import torch

P = ParamSpec("P")
T = TypeVar("T")

PRECISIONS = ("fp32", "bf16")
"""float32 throughout, as the sources have it; or autocast to bfloat16, parameters in float32."""


def in_precision(function: Callable[P, T], precision: str, device: str) -> Callable[P, T]:
    """Let ``function`` compute in ``precision``.

    Under ``"bf16"`` it runs in ``torch.autocast``: products and convolutions in bfloat16,
    what loses by it (losses, exponentials) in float32. Gradients are computed in the format
    of their forward. For ``"fp32"`` the function itself is returned, nothing wrapped.

    Args:
        function: a model, or what follows it up to the scalar.
        precision: one of `PRECISIONS`.
        device: where it computes, ``"cpu"``, ``"cuda"`` or ``"cuda:N"``.

    Raises:
        ValueError: no such precision.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision is {precision!r}; it must be one of {', '.join(PRECISIONS)}")
    if precision == "fp32":
        return function
    device_type = torch.device(device).type

    def autocast(*args: P.args, **kwargs: P.kwargs) -> T:
        with torch.autocast(device_type, dtype=torch.bfloat16):
            return function(*args, **kwargs)

    return autocast
