"""Counts the work of a workload: FLOPs, dispatches and bytes, the same in every run.

A change of these shows even where noise hides the change in time. FLOPs leave out
elementwise arithmetic, dispatches leave out views (docs/metrics.md).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from torchspeed.measure.passes import Passes
from torchspeed.models import Implementation
from torchspeed.workloads import get_workload


@dataclass(frozen=True)
class Work:
    """The work of one forward or backward pass."""

    flops: int
    dispatches: int


@dataclass(frozen=True)
class WorkOfWorkload:
    """The work of both passes, and the memory; a backward pass includes its forward."""

    forward: Work
    backward: Work
    parameter_bytes: int
    activation_bytes: int
    input_bytes: int
    output_bytes: int


def count(run: Callable[[], object]) -> Work:
    """Count the FLOPs and dispatches of ``run``.

    ``run`` must not enter ``torch.inference_mode``, where composite operators stay whole
    and products inside them are not seen.
    """
    dispatches = _Dispatches()  # type: ignore[no-untyped-call]
    with FlopCounterMode(display=False, custom_mapping=_FORMULAS) as flops, dispatches:
        flops.mod_tracker.__exit__()  # torch.autograd.grad fails with its hooks on modules
        run()
    return Work(flops.get_total_flops(), dispatches.count)


class _Dispatches(TorchDispatchMode):
    count = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        aliases = [result.alias_info for result in func._schema.returns]
        is_view = bool(aliases) and all(alias and not alias.is_write for alias in aliases)
        self.count += not is_view
        return func(*args, **(kwargs or {}))


def _product(left: Tensor, right: Tensor, **_: Any) -> int:
    multiply_adds: int = dense_parts(left)[-1].numel() * right.shape[-1]
    return 2 * multiply_adds


def _lstm_layer(x: Tensor, weight_ih: Tensor, weight_hh: Tensor, *_: Any, **__: Any) -> int:
    steps, batch, _features = x.shape
    return 2 * steps * batch * (weight_ih.numel() + weight_hh.numel())


def _attention(
    x: Tensor, key: Tensor, value: Tensor, width: int, heads: int, *_: Any, **__: Any
) -> int:
    batch, tokens, _width = x.shape
    return 2 * batch * tokens * width * (4 * width + 2 * tokens)


def _encoder_layer(x: Tensor, width: int, heads: int, *weights: Any, **_: Any) -> int:
    batch, tokens, _width = x.shape
    inner: int = weights[11].shape[0]  # rows of the feed-forward network's first weight
    return _attention(x, x, x, width, heads) + 4 * batch * tokens * width * inner


_aten = torch.ops.aten
_FORMULAS: dict[Any, Callable[..., int]] = {
    _aten.mm: _product,
    _aten._sparse_addmm: lambda _, left, right, **__: _product(left, right),
    _aten._native_multi_head_attention: _attention,
    _aten._transformer_encoder_layer_fwd: _encoder_layer,
    _aten.mkldnn_rnn_layer: _lstm_layer,
    # The gradients of the input and the state, and those of both weights.
    _aten.mkldnn_rnn_layer_backward: lambda *args, **_: 2 * _lstm_layer(*args),
}
"""FLOPs of sparse products, which torch counts as dense, and of operators that it lacks."""
for _formula in _FORMULAS.values():
    _formula.__dict__["_get_raw"] = True  # torch then passes tensors, not only their shapes


def dense_parts(tensor: Tensor) -> tuple[Tensor, ...]:
    """Return the tensors that hold the numbers; a sparse one has indices and values."""
    if tensor.layout == torch.sparse_coo:
        return tensor._indices(), tensor._values()
    return (tensor,)


def activation_bytes(run: Callable[[], Tensor], apart_from: list[Tensor]) -> int:
    """Return the bytes that autograd keeps for the backward pass of ``run``.

    Left out are tensors that existed before, such as parameters and inputs.
    """
    before = {tensor.untyped_storage()._cdata for tensor in apart_from}
    kept: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        for part in dense_parts(tensor):
            storage = part.untyped_storage()
            if storage._cdata not in before:
                kept[storage._cdata] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        result = run()
    total = sum(kept.values())
    del result  # until here it held the graph, and so every storage that was counted
    return total


def work_of(
    workload: str, batch: int | None = None, implementation: Implementation = "tuned"
) -> WorkOfWorkload:
    """Count the work of a workload on the CPU, at its own batch unless given."""
    passes = Passes(workload, "cpu", batch, implementation=implementation)
    model, inputs, targets = passes.model, passes.inputs, passes.targets
    with torch.no_grad():  # `Passes.forward` enters inference mode
        forward, output = count(lambda: model(inputs)), model(inputs)
    backward = count(passes.backward)  # it leaves the model in training mode
    objective = get_workload(workload).objective
    known = [inputs, *passes.parameters, targets]
    return WorkOfWorkload(
        forward,
        backward,
        parameter_bytes=sum(parameter.nbytes for parameter in model.parameters()),  # each once
        activation_bytes=activation_bytes(lambda: objective(model(inputs), targets), known),
        input_bytes=inputs.nbytes,
        output_bytes=output.nbytes,
    )
