"""How images and the weights of convolutions lie in memory."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor, nn

Laid = TypeVar("Laid", Tensor, nn.Module)

LAYOUTS = ("contiguous", "channels_last")
"""Channel planes one after the other, as the sources have it; or all channels of a pixel."""


def laid_out(what: Laid, layout: str) -> Laid:
    """Return images, or a model whose convolutions have such weights, in ``layout``.

    Shapes stay (batch, channels, height, width); only strides change. What is contiguous
    already is returned as it is.

    Raises:
        ValueError: no such layout, or a tensor that is no batch of images.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"layout is {layout!r}; it must be one of {', '.join(LAYOUTS)}")
    if layout == "contiguous":
        return what
    if isinstance(what, Tensor) and what.dim() != 4:
        raise ValueError(
            f"layout 'channels_last' is for images of 4 axes, not for {tuple(what.shape)}; "
            "use 'contiguous'"
        )
    return what.to(memory_format=torch.channels_last)
