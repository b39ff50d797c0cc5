"""The operators of a pass, each with its matrix products and the bytes that it must move.

A pass is recorded below autograd. Views are left out, because they compute nothing. FLOPs are
counted by ``torch.utils.flop_counter``; those of torch's LSTM kernel on CPUs, which it lacks, are
added here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry


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


@dataclass(frozen=True)
class Operation:
    """One call of an operator."""

    name: str
    """Name without the overload, such as ``aten::addmm``."""
    products: Mapping[Product, int]
    """The matrix products in it, and how often each is computed."""
    other_flops: int
    """FLOPs of convolutions, without those on padding, and of fused attention."""
    moved_bytes: int
    """Bytes of all tensors that it reads or writes, each counted once."""
    padding_flops: int = 0
    """FLOPs of convolutions on padding, which formulas count and kernels may leave out."""

    @property
    def flops(self) -> int:
        """All FLOPs of matrix products, convolutions and attention."""
        products = sum(product.flops * times for product, times in self.products.items())
        return products + self.other_flops + self.padding_flops


def record(run: Callable[[], object]) -> list[Operation]:
    """Return the operators that ``run`` calls, in order, without views.

    ``run`` must not enter ``torch.inference_mode``, where composite operators arrive whole.
    """
    recorder = _Recorder()
    with recorder:
        run()
    return recorder.operations


class _Recorder(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations: list[Operation] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if not is_view(func):
            operator, name = func._overloadpacket, func._schema.name
            products, flops = _products_of(operator, args), 0
            if not products and operator in flop_registry:
                flops = int(flop_registry[operator](*args, **kwargs, out_val=out))
            inside = round(flops * _share_inside(operator, args))
            moved = _moved_bytes(name, (args, kwargs), out)
            self.operations.append(Operation(name, products, inside, moved, flops - inside))
        return out


def is_view(func: Any) -> bool:
    """Tell whether an operator only looks at its argument's memory in another way."""
    aliases = [result.alias_info for result in func._schema.returns]
    return bool(aliases) and all(alias and not alias.is_write for alias in aliases)


def _moved_bytes(name: str, arguments: object, out: object) -> int:
    """Return the bytes of all distinct tensors; 0 where memory is only renamed or allocated."""
    read, written = _by_view(arguments), _by_view(out)
    storages = {storage for storage, *_ in read}
    fresh = {view: size for view, size in written.items() if view[0] not in storages}
    only_renamed = bool(written) and not fresh and not written.keys() & read.keys()
    if only_renamed or "empty" in name:
        return 0
    return sum((read | fresh).values())


def _by_view(tensors: object) -> dict[tuple[Any, ...], int]:
    """Return the bytes of each different view; numbers that expansion repeats count once."""
    return {
        (x.untyped_storage()._cdata, x.storage_offset(), x.shape, x.stride()): x.element_size()
        * math.prod(size for size, stride in zip(x.shape, x.stride(), strict=True) if stride)
        for tensor in tree_leaves(tensors)
        if isinstance(tensor, Tensor)
        for x in dense_parts(tensor)
    }


def dense_parts(tensor: Tensor) -> tuple[Tensor, ...]:
    """Return the tensors that hold the numbers; a sparse one has indices and values."""
    if tensor.layout == torch.sparse_coo:
        return tensor._indices(), tensor._values()
    return (tensor,)


def _products_of(operator: Any, args: tuple[Any, ...]) -> Counter[Product]:
    """Return the matrix products that one call computes, and how often it computes each.

    Convolutions and fused attention have none: their kernels choose the products themselves.

    Args:
        operator: a packet of overloads, such as ``torch.ops.aten.mm``.
        args: positional arguments of the call.
    """
    find = _PRODUCTS.get(operator)
    return Counter() if find is None else find(*args)


def _share_inside(operator: Any, args: tuple[Any, ...]) -> float:
    """Return the share of a convolution's multiply-adds that see no padding; 1 for others.

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
    if left.layout == torch.sparse_coo:  # each of its values multiplies a row
        return Counter([Product(1, left._nnz(), 1, right.shape[-1])])
    *batch, rows, inner = left.shape
    return Counter([Product(math.prod(batch), rows, inner, right.shape[-1])])


def _product_and_sum(_: Tensor, left: Tensor, right: Tensor) -> Counter[Product]:
    return _product(left, right)


def _lstm_layer(x: Tensor, weight_ih: Tensor, weight_hh: Tensor, *_: Any) -> Counter[Product]:
    """Return one product for all steps of the input, and one per step for the state."""
    steps, batch, features = x.shape
    gates, hidden = weight_hh.shape
    input_product = Product(1, steps * batch, features, gates)
    return Counter([input_product]) + Counter({Product(1, batch, hidden, gates): steps})


def _lstm_layer_backward(
    x: Tensor, weight_ih: Tensor, weight_hh: Tensor, *_: Any
) -> Counter[Product]:
    """Return one product per step for the state's gradient; the others are one for all steps."""
    steps, batch, features = x.shape
    gates, hidden = weight_hh.shape
    products_of_all_steps = [
        Product(1, steps * batch, gates, features),
        Product(1, gates, steps * batch, features),
        Product(1, gates, steps * batch, hidden),
    ]
    return Counter(products_of_all_steps) + Counter({Product(1, batch, gates, hidden): steps})


def _attention(
    x: Tensor, key: Tensor, value: Tensor, width: int, heads: int, *_: Any
) -> Counter[Product]:
    """Return the products of torch's self-attention operator, which inference uses."""
    batch, tokens, _width = x.shape
    return Counter(
        [
            Product(1, batch * tokens, width, 3 * width),
            Product(batch * heads, tokens, width // heads, tokens),
            Product(batch * heads, tokens, tokens, width // heads),
            Product(1, batch * tokens, width, width),
        ]
    )


def _encoder_layer(x: Tensor, width: int, heads: int, *weights: Any) -> Counter[Product]:
    """Return the products of a transformer's whole encoder layer in one operator."""
    batch, tokens, _width = x.shape
    inner = weights[11].shape[0]  # rows of the feed-forward network's first weight
    feed_forward = [
        Product(1, batch * tokens, width, inner),
        Product(1, batch * tokens, inner, width),
    ]
    return _attention(x, x, x, width, heads) + Counter(feed_forward)


_aten = torch.ops.aten
_PRODUCTS: dict[Any, Callable[..., Counter[Product]]] = {
    _aten.mm: _product,
    _aten.bmm: _product,
    _aten.addmm: _product_and_sum,
    _aten.baddbmm: _product_and_sum,
    _aten._sparse_addmm: _product_and_sum,
    _aten._native_multi_head_attention: _attention,
    _aten._transformer_encoder_layer_fwd: _encoder_layer,
    _aten.mkldnn_rnn_layer: _lstm_layer,
    _aten.mkldnn_rnn_layer_backward: _lstm_layer_backward,
}
_FIRST_OF_CONVOLUTION = {_aten.convolution: 0, _aten.convolution_backward: 1}
"""Index of the input; weight, a bias or its size, stride, padding and dilation follow it."""
