"""Number formats to compute in, under the names that Lightning gave them."""

from __future__ import annotations

from typing import Any

import torch

PRECISIONS = ("32-true", "16-mixed", "bf16-mixed")
"""float32 throughout; or float32 parameters with products in float16 or bfloat16."""

_MIXED = {"16-mixed": torch.float16, "bf16-mixed": torch.bfloat16}


def autocast(precision: str, device: torch.device) -> Any:
    """The context in which the forward pass computes in ``precision``."""
    return torch.autocast(
        device.type,
        dtype=_MIXED.get(precision, torch.bfloat16),
        enabled=precision in _MIXED,
    )


def grad_scaler(precision: str, device: torch.device) -> torch.amp.GradScaler:
    """Scales the loss so that float16 gradients do not vanish; idle otherwise."""
    return torch.amp.GradScaler(device.type, enabled=precision == "16-mixed")
