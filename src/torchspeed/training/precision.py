"""Number formats to compute in, under the names that Lightning gave them."""

from __future__ import annotations

from typing import Any

import torch

from torchspeed.training.config import RunConfig

_MIXED = {"16-mixed": torch.float16, "bf16-mixed": torch.bfloat16}
"""float32 parameters with products in half the bits; ``32-true`` is float32 throughout."""


def autocast(precision: str, device: torch.device) -> Any:
    """The context in which the forward pass computes in ``precision``."""
    return torch.autocast(
        device.type,
        dtype=_MIXED.get(precision, torch.bfloat16),
        enabled=precision in _MIXED,
    )


def grad_scaler(config: RunConfig) -> torch.amp.GradScaler:
    """Scales the loss so that float16 gradients do not vanish; idle otherwise."""
    device = torch.device(config.device)
    return torch.amp.GradScaler(device.type, enabled=config.precision == "16-mixed")
