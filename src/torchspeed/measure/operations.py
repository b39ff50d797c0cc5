"""The operators of a pass, each with its matrix products and the bytes that it must move.

A pass is recorded below autograd, as `torchspeed.measure.work` counts it. Views are left out:
they compute nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from torchspeed.measure.products import Product, products_of, share_inside
from torchspeed.measure.work import flops_of, is_view


@dataclass(frozen=True)
class Operation:
    """One call of an operator."""

    name: str
    """Without its overload: ``aten::addmm``."""
    products: Mapping[Product, int]
    """The matrix products in it, and how often each is computed."""
    other_flops: int
    """FLOPs of convolutions, without those on padding, and of fused attention."""
    moved_bytes: int
    """Bytes of all different tensors that it reads or writes, each once."""


def record(run: Callable[[], object]) -> list[Operation]:
    """Return the operators of ``run`` in their order, without views.

    It must not enter ``torch.inference_mode``, where composite operators arrive whole.
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
            products = products_of(operator, args)
            flops = flops_of(func, args, kwargs, out)
            flops -= sum(product.flops * times for product, times in products.items())
            other_flops = round(flops * share_inside(operator, args))
            moved_bytes = _moved_bytes(name, (args, kwargs), out)
            self.operations.append(Operation(name, products, other_flops, moved_bytes))
        return out


def _moved_bytes(name: str, arguments: object, out: object) -> int:
    """Return the bytes of all different tensors, unless memory only gets a name or a new one."""
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
        for x in tree_leaves(tensors)
        if isinstance(x, Tensor)
    }
