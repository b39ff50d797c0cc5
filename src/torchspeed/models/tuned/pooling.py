"""Relu and max pooling that use a CPU's vectors."""

from typing import Any, cast

import torch
from torch import Tensor, nn

from torchspeed.models.tuned.compiling import is_compiling


def relu_max_pool(x: Tensor) -> Tensor:
    """Return relu of the largest number of each 2 x 2 square of (batch, channels, height, width).

    It is ``torch.nn.functional.max_pool2d(x.relu(), 2)``, which drops an odd last row or column.
    That function's CPU kernel compares number by number unless the channels lie last. The larger
    of two slices gives the same in whole vectors: measured on one thread with AVX-512, 14 times as
    fast, and twice with its gradient.
    """
    if x.device.type not in {"cpu", "meta"}:  # shapes alone are counted as on the CPU
        return nn.functional.max_pool2d(x.relu(), 2)
    return cast("Tensor", _ReluMaxPool.apply(x)) if x.requires_grad else _largest(x).relu_()


class _ReluMaxPool(torch.autograd.Function):
    """Relu and pooling with the gradient of torch's kernels: the first of equal numbers gets it.

    Each maximum is located by arithmetic. Comparisons are as fast, but ``torch.compile`` would
    keep their results for the backward pass, and is slow at that (docs/findings.md).
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        pooled = _largest(x).relu()
        ctx.save_for_backward(x, pooled)
        return pooled

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        [x, pooled], [gradient] = ctx.saved_tensors, gradients
        a, b, c, d = _corners(x)
        gradient = gradient * pooled.sign()
        lower = gradient * _exceeds(torch.maximum(c, d), torch.maximum(a, b))
        upper = gradient - lower
        upper_right, lower_right = upper * _exceeds(b, a), lower * _exceeds(d, c)
        parts = (upper - upper_right, upper_right, lower - lower_right, lower_right)
        return _from_corners(parts, x)


def _largest(x: Tensor) -> Tensor:
    height, width = (size - size % 2 for size in x.shape[2:])
    rows = torch.maximum(x[:, :, 0:height:2], x[:, :, 1:height:2])
    return torch.maximum(rows[..., 0:width:2], rows[..., 1:width:2])


def _corners(x: Tensor) -> list[Tensor]:
    """Return upper left, upper right, lower left and lower right number of each square."""
    height, width = (size - size % 2 for size in x.shape[2:])
    return [x[:, :, row:height:2, column:width:2] for row in (0, 1) for column in (0, 1)]


def _from_corners(parts: tuple[Tensor, ...], x: Tensor) -> Tensor:
    """Return a tensor of the shape of ``x`` whose `_corners` are these, with zeros elsewhere."""
    if is_compiling():  # the compiler writes a stack in one loop, copies to slices in several
        rows = [torch.stack(pair, -1).flatten(-2) for pair in (parts[:2], parts[2:])]
        squares = torch.stack(rows, -2).flatten(2, 3)
        below, right = x.shape[2] - squares.shape[2], x.shape[3] - squares.shape[3]
        return nn.functional.pad(squares, (0, right, 0, below))
    whole = torch.zeros_like(x)
    for corner, part in zip(_corners(whole), parts, strict=True):
        corner.copy_(part)
    return whole


def _exceeds(x: Tensor, y: Tensor) -> Tensor:
    """Return 1 where ``x`` is larger than ``y``, else 0."""
    return (x - y).sign_().relu_()
