"""DSANet with heads wide enough for a GPU's fused attention."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import cast

import torch
from torch import Tensor
from torch.nn.functional import dropout, pad, scaled_dot_product_attention

from torchspeed.models.dsanet import DSANet
from torchspeed.models.dsanet_tower import Layer, Tower
from torchspeed.models.registry import register_model

_MULTIPLE = 4
"""Fused attention of float32 numbers reads 16 bytes at once, so a head is a multiple of this."""


class PaddedTower(Tower):
    """A tower whose heads of attention are filled up with zeros.

    DSANet's heads of two numbers have no fused kernel: torch then computes scores, softmax and
    mixture one after the other. Zeros change no score, and what is mixed of them is dropped.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, window, series) to (batch, series, kernels)."""
        patterns = self._patterns(x)
        for layer in cast("Iterable[Layer]", self.layers):
            patterns = _apply(layer, patterns)
        return self.unembed(patterns)  # type: ignore[no-any-return]


def _apply(layer: Layer, x: Tensor) -> Tensor:
    """Map (batch, series, d_model) to the same shape, as the layer does."""
    parts = layer.query_key_value(x).unflatten(2, (3, layer.heads, -1))
    size = parts.shape[-1]
    padded = pad(parts, (0, -size % _MULTIPLE)).transpose(1, 3)
    query, key, value = padded.unbind(2)  # (batch, heads, series, padded size) each
    query = query * math.sqrt(query.shape[-1] / size)  # torch divides by the padded root
    p = layer.dropout if layer.training else 0.0
    mixed = scaled_dot_product_attention(query, key, value, dropout_p=p)[..., :size]
    mixed = layer.output(mixed.transpose(1, 2).flatten(2))  # (batch, series, d_model)
    x = layer.attention_norm(x + dropout(mixed, layer.dropout, layer.training))
    inner = layer.outer(torch.relu(layer.inner(x)))
    x = x + dropout(inner, layer.dropout, layer.training)
    return layer.feed_forward_norm(x)  # type: ignore[no-any-return]


@register_model("dsanet", "fused")
class FusedDSANet(DSANet):
    """`torchspeed.models.dsanet.DSANet` with one kernel for each attention."""

    tower = PaddedTower
