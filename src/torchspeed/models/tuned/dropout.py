"""Dropout that draws a quarter of the random numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from torchspeed.models.tuned.compiling import is_compiling

_LEVELS = 2**16
"""Number of values that one draw can have."""
_IS_OPERATOR = hasattr(torch.library, "register_fake")  # from torch 2.4 on
"""Whether the factors are computed by an operator, which ``torch.compile`` calls as it is.

The compiler's own loops draw one number after the other, and have no vectors of 16-bit integers
(docs/notes/tuned.md).
"""


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
