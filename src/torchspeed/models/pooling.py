"""Max pooling that uses a CPU's vectors."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn


def max_pool(x: Tensor) -> Tensor:
    """Return the largest number of each 2 x 2 square of (batch, channels, height, width).

    An odd last row or column is left out, as by ``torch.nn.functional.max_pool2d(x, 2)``, whose
    CPU kernel compares number by number unless the channels lie last. The larger of two slices
    is the same function in whole vectors: measured on one thread with AVX-512, 14 times as fast,
    and twice with its gradient.
    """
    if x.device.type not in {"cpu", "meta"}:  # shapes alone are counted as on the CPU
        return nn.functional.max_pool2d(x, 2)
    return cast("Tensor", _MaxPool.apply(x)) if x.requires_grad else _largest(x)


class _MaxPool(torch.autograd.Function):
    """`_largest` with the gradient of torch's kernel: of equal numbers the first one gets it.

    Places are found by arithmetic. Comparisons are as fast, but ``torch.compile`` would keep their
    results for the backward pass, and is slow at that (docs/notes/compiled-on-cpus.md).
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return _largest(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        [x], [gradient] = ctx.saved_tensors, gradients
        a, b, c, d = _corners(x)
        lower = gradient * _exceeds(torch.maximum(c, d), torch.maximum(a, b))
        upper = gradient - lower
        upper_right, lower_right = upper * _exceeds(b, a), lower * _exceeds(d, c)
        routed = torch.zeros_like(x)
        parts = (upper - upper_right, upper_right, lower - lower_right, lower_right)
        for corner, part in zip(_corners(routed), parts, strict=True):
            corner.copy_(part)
        return routed


def _largest(x: Tensor) -> Tensor:
    height, width = (size - size % 2 for size in x.shape[2:])
    rows = torch.maximum(x[:, :, 0:height:2], x[:, :, 1:height:2])
    return torch.maximum(rows[..., 0:width:2], rows[..., 1:width:2])


def _corners(x: Tensor) -> list[Tensor]:
    """Return upper left, upper right, lower left and lower right number of each square."""
    height, width = (size - size % 2 for size in x.shape[2:])
    return [x[:, :, row:height:2, column:width:2] for row in (0, 1) for column in (0, 1)]


def _exceeds(x: Tensor, y: Tensor) -> Tensor:
    """Return 1 where ``x`` is larger than ``y``, else 0."""
    return (x - y).sign_().relu_()
