"""Single operators of torch, forward and backward, in the number formats of models.

They show which operator changed a model's time. Everything here runs on torch 2.0 and
later; what a release cannot compute is reported as not implemented, with torch's own words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchspeed.devices import require_device

FORMATS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
"""Number formats of all operands. Unlike in variants of models, nothing is cast on the way."""

_MISSING = ("not implemented for", "not supported", "could not create a primitive")
"""Texts in torch's errors where a release has no kernel for a format."""


@dataclass(frozen=True)
class _Draw:
    """Draws operands from one generator: a seed gives the same values on every device."""

    device: torch.device
    dtype: torch.dtype
    generator: torch.Generator

    def normal(self, *shape: int) -> Tensor:
        """Return standard normal values of a shape, in the operand's number format."""
        return torch.randn(shape, generator=self.generator).to(self.device, self.dtype)

    def integers(self, limit: int, *shape: int) -> Tensor:
        """Return random indices from 0 to ``limit - 1``, in a tensor of a shape."""
        return torch.randint(limit, shape, generator=self.generator).to(self.device)

    def weights(self, module: nn.Module) -> tuple[Tensor, ...]:
        """Move a module to the operands' device, draw its parameters, and return them."""
        module.to(self.device, self.dtype)
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.copy_(0.1 * self.normal(*parameter.shape))
        return tuple(module.parameters())


_Built = tuple[Callable[..., Tensor], tuple[Tensor, ...]]
"""A function, and the operands that it is called with and differentiated with respect to."""


def _linear(draw: _Draw, batch: int, inputs: int, outputs: int) -> _Built:
    weight, bias = draw.normal(outputs, inputs), draw.normal(outputs)
    return F.linear, (draw.normal(batch, inputs), weight, bias)


def _conv2d(
    draw: _Draw, batch: int, channels: int, filters: int, size: int, kernel: int
) -> _Built:
    images = draw.normal(batch, channels, size, size)
    weight = draw.normal(filters, channels, kernel, kernel)
    return partial(F.conv2d, padding=kernel // 2), (images, weight, draw.normal(filters))


def _depthwise_conv2d(draw: _Draw, batch: int, channels: int, size: int, kernel: int) -> _Built:
    images = draw.normal(batch, channels, size, size)
    weight = draw.normal(channels, 1, kernel, kernel)
    convolve = partial(F.conv2d, padding=kernel // 2, groups=channels)
    return convolve, (images, weight, draw.normal(channels))


def _max_pool2d(draw: _Draw, batch: int, channels: int, size: int, kernel: int) -> _Built:
    return partial(F.max_pool2d, kernel_size=kernel), (draw.normal(batch, channels, size, size),)


def _recurrent(
    module: type[nn.LSTM | nn.GRU], draw: _Draw, batch: int, steps: int, features: int, hidden: int
) -> _Built:
    network = module(features, hidden, batch_first=True)
    weights = draw.weights(network)
    return lambda x, *_: network(x)[0], (draw.normal(batch, steps, features), *weights)


def _layer_norm(draw: _Draw, rows: int, columns: int) -> _Built:
    operands = (draw.normal(rows, columns), draw.normal(columns), draw.normal(columns))
    return lambda x, weight, bias: F.layer_norm(x, weight.shape, weight, bias), operands


def _batch_norm(draw: _Draw, batch: int, channels: int, size: int) -> _Built:
    mean, variance = torch.zeros(2, channels, dtype=draw.dtype, device=draw.device)
    variance = variance + 1

    def normalise(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        training = torch.is_grad_enabled()  # a forward pass is an inference
        return F.batch_norm(x, mean, variance, weight, bias, training=training)

    images = draw.normal(batch, channels, size, size)
    return normalise, (images, draw.normal(channels), draw.normal(channels))


def _attention(
    draw: _Draw, batch: int, heads: int, tokens: int, width: int, dropout: float = 0.0
) -> _Built:
    operands = tuple(draw.normal(batch, heads, tokens, width) for _ in range(3))
    return partial(F.scaled_dot_product_attention, dropout_p=dropout), operands


def _embedding(draw: _Draw, entries: int, width: int, lookups: int) -> _Built:
    indices = draw.integers(entries, lookups)
    return lambda table: F.embedding(indices, table), (draw.normal(entries, width),)


def _add(draw: _Draw, rows: int, columns: int) -> _Built:
    return torch.add, (draw.normal(rows, columns), draw.normal(columns))


def _of_one_matrix(
    function: Callable[[Tensor], Tensor], draw: _Draw, rows: int, columns: int
) -> _Built:
    return function, (draw.normal(rows, columns),)


def _moving_average(draw: _Draw, batch: int, series: int, steps: int, kernel: int) -> _Built:
    def average(x: Tensor) -> Tensor:
        padded = F.pad(x, (kernel // 2, kernel // 2), mode="replicate")
        return F.avg_pool1d(padded, kernel, stride=1)

    return average, (draw.normal(batch, series, steps),)


def _average_pool2d(draw: _Draw, batch: int, channels: int, size: int) -> _Built:
    return partial(F.adaptive_avg_pool2d, output_size=1), (
        draw.normal(batch, channels, size, size),
    )


def _cat(draw: _Draw, rows: int, columns: int) -> _Built:
    operands = (draw.normal(rows, columns), draw.normal(rows, columns))
    return lambda *parts: torch.cat(parts, 1), operands


def _index_add(draw: _Draw, rows: int, columns: int, additions: int) -> _Built:
    index = draw.integers(rows, additions)
    operands = (draw.normal(rows, columns), draw.normal(additions, columns))
    return lambda x, source: x.index_add(0, index, source), operands


def _sparse_mm(draw: _Draw, rows: int, columns: int, values: int) -> _Built:
    indices = torch.stack((draw.integers(rows, values), draw.integers(rows, values)))
    shape = (rows, rows)
    matrix = torch.sparse_coo_tensor(
        indices, draw.normal(values), shape, check_invariants=False
    ).coalesce()
    return partial(torch.sparse.mm, matrix), (draw.normal(rows, columns),)


def _cross_entropy(draw: _Draw, batch: int, classes: int) -> _Built:
    targets = draw.integers(classes, batch)
    return lambda logits: F.cross_entropy(logits, targets), (draw.normal(batch, classes),)


OPERATORS: dict[str, Callable[..., _Built]] = {
    "linear": _linear,
    "conv2d": _conv2d,
    "pointwise_conv2d": _conv2d,
    "depthwise_conv2d": _depthwise_conv2d,
    "max_pool2d": _max_pool2d,
    "lstm": partial(_recurrent, nn.LSTM),
    "gru": partial(_recurrent, nn.GRU),
    "softmax": partial(_of_one_matrix, partial(F.softmax, dim=-1)),
    "layer_norm": _layer_norm,
    "batch_norm": _batch_norm,
    "attention": _attention,
    "attention_dropout": partial(_attention, dropout=0.1),
    "dropout": partial(_of_one_matrix, partial(F.dropout, p=0.1)),
    "relu": partial(_of_one_matrix, F.relu),
    "gelu": partial(_of_one_matrix, F.gelu),
    "silu": partial(_of_one_matrix, F.silu),
    "hardswish": partial(_of_one_matrix, F.hardswish),
    "hardsigmoid": partial(_of_one_matrix, F.hardsigmoid),
    "softplus": partial(_of_one_matrix, F.softplus),
    "moving_average": _moving_average,
    "average_pool2d": _average_pool2d,
    "select": partial(_of_one_matrix, lambda x: x.select(1, -1).contiguous()),
    "cat": _cat,
    "embedding": _embedding,
    "add": _add,
    "index_add": _index_add,
    "sparse_mm": _sparse_mm,
    "cross_entropy": _cross_entropy,
}
"""The function that builds each operator from its sizes, by name.

``add`` adds one row to every row of a matrix, ``select`` takes its last column. ``sparse_mm``
multiplies a square sparse matrix, such as a graph, with a dense one; ``values`` numbers are
drawn for it, of which those with equal indices are added up, so it may hold fewer.
``pointwise_conv2d`` has filters of one pixel, for which torch has another kernel where it runs
on one thread.
"""


class OperatorPasses:
    """One operator at fixed sizes, with a forward and a backward pass ready to be timed."""

    def __init__(
        self, operator: str, device: str, number_format: str, sizes: dict[str, int]
    ) -> None:
        """Draw the operands.

        Args:
            operator: one of `OPERATORS`.
            device: ``"cpu"``, ``"cuda"`` or ``"cuda:N"``.
            number_format: one of `FORMATS`, of all operands.
            sizes: of the operands, by the names that the operator gives them.

        Raises:
            ValueError: No such operator, format or size, or ``device`` is not on this machine.
        """
        if operator not in OPERATORS:
            raise ValueError(f"no operator {operator!r}; there are {', '.join(OPERATORS)}")
        if number_format not in FORMATS:
            raise ValueError(f"no format {number_format!r}; there are {', '.join(FORMATS)}")
        generator = torch.Generator().manual_seed(0)
        draw = _Draw(require_device(device), FORMATS[number_format], generator)
        try:
            self._function, self.operands = OPERATORS[operator](draw, **sizes)
        except TypeError as error:
            raise ValueError(f"sizes of {operator} do not fit: {error}") from error
        for operand in self.operands:
            operand.requires_grad_()
        self._draw = draw
        self._gradient: Tensor | None = None
        self._computed: set[str] = set()
        self._label = f"{operator} in {number_format} on {device}"

    @torch.inference_mode()
    def forward(self) -> Tensor:
        """Compute the operator once, without a graph. Returns the output."""
        return self._function(*self.operands)

    def backward(self) -> tuple[Tensor, ...]:
        """Compute the operator and its gradients with respect to all operands.

        The gradient of the output is a fixed tensor of normal values.
        """
        output = self._function(*self.operands)
        if self._gradient is None:
            self._gradient = self._draw.normal(*output.shape)
        return torch.autograd.grad(output, self.operands, self._gradient)

    def require(self, pass_name: str) -> None:
        """Run ``"forward"`` or ``"backward"`` unless it has run already.

        Raises:
            NotImplementedError: This release of torch has no kernel for it in this format.
        """
        if pass_name in self._computed:
            return
        try:
            getattr(self, pass_name)()
        except RuntimeError as error:
            if not any(words in str(error) for words in _MISSING):
                raise
            reason = str(error).strip().splitlines()[0]
            raise NotImplementedError(
                f"torch {torch.__version__} cannot compute {self._label}: {reason}"
            ) from error
        self._computed.add(pass_name)


@lru_cache(maxsize=1)
def operator_passes(
    operator: str, device: str, number_format: str, **sizes: int
) -> OperatorPasses:
    """Return the passes of a case, built at the first call and kept while the case runs.

    Raises:
        ValueError: for the reasons that `OperatorPasses` names.
    """
    return OperatorPasses(operator, device, number_format, sizes)
