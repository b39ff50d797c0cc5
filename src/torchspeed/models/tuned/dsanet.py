"""DSANet with the series on the last axis, where the arithmetic is fast."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from torchspeed.models.dsanet import DSANet
from torchspeed.models.dsanet_tower import Layer, Tower
from torchspeed.models.registry import register_model
from torchspeed.models.tuned.compiling import is_compiling, is_traced

_LARGEST_IN_LOOPS = 8
"""Most terms of a sum that ``torch.compile`` writes out without a loop."""
_CACHED_WEIGHTS = 2**19
"""Attention weights in a part of the batch: 2 MiB of float32, about what a core's caches hold."""
_LEVELS = 2**16
"""Number of values that one draw can have."""
_IS_OPERATOR = hasattr(torch.library, "register_fake")  # from torch 2.4 on
"""Whether the factors are computed by an operator, which ``torch.compile`` calls as it is.

The compiler's own loops draw one number after the other, and have no vectors of 16-bit integers
(docs/findings.md).
"""


@register_model("dsanet", "tuned")
class TunedDSANet(DSANet):
    """`torchspeed.models.dsanet.DSANet` in products that leave the series last."""

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values, (batch, outputs)."""
        self.check(x)
        # From here to the head the series come last, where the arithmetic is fast.
        steps = x.transpose(0, 1).contiguous()  # (window, batch, series)
        parts = [_run_tower(tower, steps) for tower in (self.global_tower, self.local_tower)]
        towers = torch.cat(parts)  # (2 * kernels, batch, series)
        towers = dropout(towers, self.dropout, self.training)
        nonlinear = _apply(self.combine, towers).squeeze(0)  # (batch, series)
        linear = self.autoregression(x.transpose(1, 2)).squeeze(2)  # (batch, series)
        return self.head(nonlinear + linear)  # type: ignore[no-any-return]


def _run_tower(tower: Tower, x: Tensor) -> Tensor:
    """Map (window, batch, series) to (kernels, batch, series)."""
    patterns = _patterns(tower, x)
    for layer in cast("Iterable[Layer]", tower.layers):
        patterns = _run_layer(layer, patterns)
    return _apply(tower.unembed, patterns)


def _patterns(tower: Tower, x: Tensor) -> Tensor:
    """Convolve, and return (d_model, batch, series).

    The filters are written as one banded matrix, as LSTNet's: a row for each filter
    and position. One product over all series then leaves them last, where the layers
    want them; measured on one CPU thread, it makes the whole model 1.05 times as fast
    forward and 1.13 times backward as torch's Conv2d does.
    """
    window = x.shape[0]
    weight = tower.convolution.weight.flatten(1)  # (kernels, length)
    kernels, length = weight.shape
    positions = window - length + 1
    # Filters in rows of window + 1 numbers, read in rows of window numbers: each
    # starts one step later than the row before.
    rows = nn.functional.pad(weight, (0, window + 1 - length))
    band = rows.repeat(1, positions)[:, : positions * window].reshape(-1, window)
    responses = (band @ x.flatten(1)).view(kernels, positions, -1)
    # The largest response, then bias and relu: the same function of less data.
    bias = cast("Tensor", tower.convolution.bias).unsqueeze(1)
    patterns = (responses.amax(1) + bias).relu()  # (kernels, batch * series)
    patterns = _apply(tower.embed, dropout(patterns, tower.dropout, tower.training))
    return patterns.view(-1, *x.shape[1:])


def _run_layer(layer: Layer, x: Tensor) -> Tensor:
    """Map (d_model, batch, series) to the same shape."""

    def drop(x: Tensor) -> Tensor:
        return dropout(x, layer.dropout, layer.training)

    d_model, batch, series = x.shape
    size = d_model // layer.heads
    query, key, value = (
        part.view(layer.heads, size, batch, series).transpose(1, 2).reshape(-1, size, series)
        for part in _apply(layer.query_key_value, x).chunk(3)
    )  # (heads * batch, size, series) each
    mixed = attend(query, key, value, drop).view(layer.heads, batch, size, series)
    mixed = _apply(layer.output, mixed.transpose(1, 2).reshape(d_model, batch, series))
    x = _normalise(layer.attention_norm, x + drop(mixed))
    # Flat: torch.compile then keeps what relu returns, and no mask, which it is slow to write.
    inner = _apply(layer.outer, _apply(layer.inner, x.flatten(1)).relu()).view_as(x)
    return _normalise(layer.feed_forward_norm, x + drop(inner))


def _normalise(norm: nn.LayerNorm, x: Tensor) -> Tensor:
    """Apply a layer norm (arXiv:1607.06450) to the first axis of (size, batch, series).

    torch's own wants that axis last, where a size as small as 4 leaves most of a vector
    register empty: measured on one CPU thread, a tenth of the speed.
    """
    centred = x - x.mean(0)
    scale = torch.rsqrt(centred.square().mean(0) + norm.eps)
    return torch.addcmul(norm.bias[:, None, None], centred * scale, norm.weight[:, None, None])


def _apply(linear: nn.Linear, x: Tensor) -> Tensor:
    """Apply a linear map to the first axis of (size, batch, series) or (size, batch * series)."""
    out = torch.addmm(linear.bias.unsqueeze(1), linear.weight, x.flatten(1))
    return out.view(-1, *x.shape[1:])


def attend(query: Tensor, key: Tensor, value: Tensor, drop: Callable[[Tensor], Tensor]) -> Tensor:
    """Mix the values by softmax(key' query / sqrt(size)), arXiv:1706.03762, equation 1.

    For heads as small as two numbers, products with the positions last are faster than torch's
    fused attention, which wants the size last.

    All are (batch, size, positions), each item of the batch being a head of a sample. ``drop`` is
    applied to the weights before they mix the values, and may only scale them.
    """
    _, size, positions = query.shape
    if is_compiling() and size <= _LARGEST_IN_LOOPS:
        return _attend_in_loops(query, key, value, drop)
    if query.device.type == "cpu" and not is_traced():
        # A part of the batch at a time, so that its weights stay in the cache: measured, 1.3 times
        # as fast forward and 1.2 times backward. A traced graph would repeat the operators.
        rows = max(1, _CACHED_WEIGHTS // positions**2)
        parts = zip(query.split(rows), key.split(rows), value.split(rows), strict=True)
        return torch.cat([v @ drop(attention_weights(q, k)) for q, k, v in parts])
    return value @ drop(attention_weights(query, key))


def attention_weights(query: Tensor, key: Tensor) -> Tensor:
    """Return softmax(key' query / sqrt(size)), (batch, key, query).

    Weights sum to one over the keys. In this layout gradients arrive in the order of reading:
    measured on one CPU thread, 1.2 times the speed backward. Query and key have the shape that
    `attend` takes.
    """
    return (key.transpose(1, 2) @ (query / math.sqrt(query.shape[1]))).softmax(1)


def _attend_in_loops(
    query: Tensor, key: Tensor, value: Tensor, drop: Callable[[Tensor], Tensor]
) -> Tensor:
    """Attend without matrix products, so that ``torch.compile`` makes a few loops of it.

    A product over so few numbers takes longer to write its result than to compute it. The
    compiler calls a library for products, but fuses sums into the loops that use them.
    Softmax's division follows the mixing, where there are fewer numbers. Measured on one CPU
    thread, heads of 2 numbers, 50 positions: 1.8 times as fast forward, 1.6 times backward.
    """
    query = query / math.sqrt(query.shape[1])
    scores = (key.unsqueeze(3) * query.unsqueeze(2)).sum(1)  # (batch, key, query)
    # The largest score cancels out, so that no gradient passes through it.
    exponentials = (scores - scores.amax(1, keepdim=True).detach()).exp()
    kept = drop(exponentials)
    mixed = torch.stack([(row * kept).sum(1) for row in value.unsqueeze(3).unbind(1)], 1)
    return mixed / exponentials.sum(1, keepdim=True)


def dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """Set each number to zero with probability ``p``, and scale the rest to keep the mean.

    N. Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from
    Overfitting", JMLR 15, 2014, with the scaling moved from test to training.

    On most CPUs torch draws 64 random bits for every number, one after the other: in
    DSANet, whose attention weights are 30 million, that was over a third of a backward
    pass. Here a draw of 64 bits serves four numbers, and ``p`` is met to 2**-17; forward
    and gradient took 14.8 ms where ``torch.nn.functional.dropout`` took 33.7 ms (5 million
    numbers, one thread). On other devices torch's own is used; if not ``training``, none.
    """
    if not training or p == 0:
        return x
    if x.device.type != "cpu":
        return nn.functional.dropout(x, p)
    if _IS_OPERATOR and is_compiling():
        factors: Tensor = torch.ops.torchspeed.dropout_factors(x.shape, p)
        return x * factors.to(x.dtype)
    return x * _factors(x.shape, p, x.dtype)


def _factors(size: Sequence[int], p: float, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return factors: 0 with probability ``p``, else the number that keeps the mean."""
    bits = torch.randint(-(2**63), 2**63 - 1, (-(-math.prod(size) // 4),))
    draws = bits.view(torch.int16)[: math.prod(size)].view(size)  # uniform, from -2**15
    zeros = min(round(p * _LEVELS), _LEVELS - 1)
    kept = draws >= zeros - _LEVELS // 2
    return kept.to(dtype).mul_(_LEVELS / (_LEVELS - zeros))


if _IS_OPERATOR:
    _NAME = "torchspeed::dropout_factors"
    _TAGS = (torch.Tag.nondeterministic_seeded,)  # two calls are two draws
    torch.library.define(_NAME, "(SymInt[] size, float p) -> Tensor", tags=_TAGS)
    torch.library.impl(_NAME, "CompositeExplicitAutograd", _factors)
    torch.library.register_fake(_NAME, lambda size, _: torch.empty(size))
