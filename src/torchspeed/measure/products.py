"""The matrix products inside operators, and what of a convolution is no padding."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Product:
    """Sizes of a batch of matrix products: (batch, rows, inner) by (batch, inner, columns)."""

    batch: int
    rows: int
    inner: int
    columns: int

    @property
    def flops(self) -> int:
        """Two for each multiply-add."""
        return 2 * self.batch * self.rows * self.inner * self.columns


def products_of(operator: Any, args: tuple[Any, ...]) -> Counter[Product]:
    """Return the products that one call computes, and how often each.

    Convolutions and fused attention have none: their kernels choose the products themselves.

    Args:
        operator: a packet of overloads, such as ``torch.ops.aten.mm``.
        args: positional arguments of the call.
    """
    find = _PRODUCTS.get(operator)
    return Counter() if find is None else find(*args)


def share_inside(operator: Any, args: tuple[Any, ...]) -> float:
    """Return the share of a convolution's multiply-adds that see no padding; 1 of all else.

    Args:
        operator: a packet of overloads, such as ``torch.ops.aten.convolution``.
        args: positional arguments of the call.
    """
    if operator not in _FIRST_OF_CONVOLUTION:
        return 1.0
    first = _FIRST_OF_CONVOLUTION[operator]
    x, weight, _, stride, padding, dilation, transposed = args[first : first + 7]
    if transposed:
        return 1.0
    axes = zip(x.shape[2:], weight.shape[2:], stride, padding, dilation, strict=True)
    return math.prod(_share_inside_axis(*axis) for axis in axes)


def _share_inside_axis(size: int, kernel: int, stride: int, padding: int, dilation: int) -> float:
    starts = range(-padding, size + padding - dilation * (kernel - 1), stride)
    inside = [0 <= start + dilation * tap < size for start in starts for tap in range(kernel)]
    return sum(inside) / len(inside)


def _product(left: Tensor, right: Tensor, *_: Any) -> Counter[Product]:
    *batch, rows, inner = left.shape
    return Counter([Product(math.prod(batch), rows, inner, right.shape[-1])])


def _product_and_sum(_: Tensor, left: Tensor, right: Tensor) -> Counter[Product]:
    return _product(left, right)


def _lstm_layer(x: Tensor, weight_ih: Tensor, weight_hh: Tensor, *_: Any) -> Counter[Product]:
    """Return one product for all steps of the input, and one a step for the state."""
    steps, batch, features = x.shape
    gates, hidden = weight_hh.shape
    of_input = Product(1, steps * batch, features, gates)
    return Counter([of_input]) + Counter({Product(1, batch, hidden, gates): steps})


def _lstm_layer_backward(
    x: Tensor, weight_ih: Tensor, weight_hh: Tensor, *_: Any
) -> Counter[Product]:
    """Return one product a step for the gradient of the state; others are one for all steps."""
    steps, batch, features = x.shape
    gates, hidden = weight_hh.shape
    of_all_steps = [
        Product(1, steps * batch, gates, features),
        Product(1, gates, steps * batch, features),
        Product(1, gates, steps * batch, hidden),
    ]
    return Counter(of_all_steps) + Counter({Product(1, batch, gates, hidden): steps})


_aten = torch.ops.aten
_PRODUCTS: dict[Any, Callable[..., Counter[Product]]] = {
    _aten.mm: _product,
    _aten.bmm: _product,
    _aten.addmm: _product_and_sum,
    _aten.baddbmm: _product_and_sum,
    _aten.mkldnn_rnn_layer: _lstm_layer,
    _aten.mkldnn_rnn_layer_backward: _lstm_layer_backward,
}
_FIRST_OF_CONVOLUTION = {_aten.convolution: 0, _aten.convolution_backward: 1}
"""Place of the input; weight, a bias or its size, stride, padding and dilation come next."""
