"""Attention in heads of few numbers, as between the series of a forecast."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from torchspeed.models.compiling import is_compiling

_LARGEST_IN_LOOPS = 8
"""Sums of at most so many terms ``torch.compile`` writes out without a loop."""


def attend(
    query: Tensor, key: Tensor, value: Tensor, drop: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """Mix the values by softmax(key' query / sqrt(size)), arXiv:1706.03762, equation 1.

    For heads as small as two numbers, products with the positions last are faster than torch's
    fused attention, which wants the size last. Laid out (batch, key, query), gradients arrive as
    they are read: measured on one CPU thread, 1.2 times the speed backward.

    Args:
        query: (batch, size, positions), a head of a sample in each place of the batch.
        key: the same shape.
        value: the same shape.
        drop: applied to the weights before they mix the values: dropout, which scales numbers.

    Returns:
        the mixed values, of the same shape, and the weights, (batch, key, query), which sum to one
        over the keys.
    """
    size = query.shape[1]
    query = query / math.sqrt(size)
    if is_compiling() and query.device.type == "cpu" and size <= _LARGEST_IN_LOOPS:
        return _attend_in_loops(query, key, value, drop)
    weights = (key.transpose(1, 2) @ query).softmax(1)
    return value @ drop(weights), weights


def _attend_in_loops(
    query: Tensor, key: Tensor, value: Tensor, drop: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """Attend without products, for ``torch.compile``, which makes a few loops of this.

    A product over so few numbers takes longer to write its result than to compute it. The
    compiler calls products as they are, but computes sums where they are used. Softmax's division
    follows the mixing, where there are fewer numbers. Measured on one CPU thread, heads of 2
    numbers, 50 positions: 1.8 times as fast forward, 1.6 times backward.
    """
    scores = (key.unsqueeze(3) * query.unsqueeze(2)).sum(1)  # (batch, key, query)
    # The largest score cancels out, so that no gradient passes through it.
    exponentials = (scores - scores.amax(1, keepdim=True).detach()).exp()
    total = exponentials.sum(1, keepdim=True)
    kept = drop(exponentials)
    mixed = torch.stack([(row * kept).sum(1) for row in value.unsqueeze(3).unbind(1)], 1)
    return mixed / total, exponentials / total
