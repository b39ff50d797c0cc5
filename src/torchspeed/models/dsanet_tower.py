"""A tower of DSANet: temporal patterns of each series, then attention between the series."""

import math
from collections.abc import Iterable
from typing import ClassVar, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import adaptive_max_pool2d, dropout, scaled_dot_product_attention


class Layer(nn.Module):
    """Self-attention between the series, then the same small network for each.

    Both have a residual connection and a layer norm: an encoder layer of Vaswani et al.,
    arXiv:1706.03762, whose equation 1 is the attention.
    """

    def __init__(self, d_model: int, d_hidden: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.query_key_value = nn.Linear(d_model, 3 * d_model)
        self.output = nn.Linear(d_model, d_model)
        self.attention_norm = nn.LayerNorm(d_model)
        self.inner = nn.Linear(d_model, d_hidden)
        self.outer = nn.Linear(d_hidden, d_model)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, series, d_model) to the same shape."""
        query, key, value = self._heads_of(x)
        p = self.dropout if self.training else 0.0
        mixed = scaled_dot_product_attention(query, key, value, dropout_p=p)  # eq. 1
        mixed = self.output(mixed.transpose(1, 2).flatten(2))  # (batch, series, d_model)
        x = self.attention_norm(x + dropout(mixed, self.dropout, self.training))
        inner = self.outer(torch.relu(self.inner(x)))
        x = x + dropout(inner, self.dropout, self.training)
        return self.feed_forward_norm(x)  # type: ignore[no-any-return]

    def weights(self, x: Tensor) -> Tensor:
        """Return the weights of equation 1, (batch, heads, series, series)."""
        query, key, _ = self._heads_of(x)
        return (query @ key.transpose(2, 3) / math.sqrt(query.shape[3])).softmax(3)

    def _heads_of(self, x: Tensor) -> Iterable[Tensor]:
        """Return query, key and value, (batch, heads, series, d_model / heads) each."""
        parts = self.query_key_value(x).chunk(3, 2)
        return (part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in parts)


class Tower(nn.Module):
    """Temporal patterns of each series, then layers of attention between the series.

    A filter of the window's whole length sees global patterns; a shorter one is
    moved along the window, and the largest response kept, for local ones.
    """

    layer: ClassVar[type[nn.Module]] = Layer

    def __init__(
        self,
        length: int,
        *,
        kernels: int,
        d_model: int,
        d_hidden: int,
        layers: int,
        heads: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.convolution = nn.Conv2d(1, kernels, (length, 1))
        self.embed = nn.Linear(kernels, d_model)
        self.layers = nn.ModuleList(
            self.layer(d_model, d_hidden, heads, dropout) for _ in range(layers)
        )
        self.unembed = nn.Linear(d_model, kernels)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, window, series) to (batch, series, kernels)."""
        patterns = self._patterns(x)
        for layer in self.layers:
            patterns = layer(patterns)
        return self.unembed(patterns)  # type: ignore[no-any-return]

    def attention_weights(self, x: Tensor) -> Tensor:
        """Return the weights of every layer, (batch, layers, heads, series, series)."""
        patterns = self._patterns(x)
        weights = []
        for layer in cast("Iterable[Layer]", self.layers):
            weights.append(layer.weights(patterns))
            patterns = layer(patterns)
        return torch.stack(weights, 1)

    def _patterns(self, x: Tensor) -> Tensor:
        """Convolve, keep the largest response, and return (batch, series, d_model)."""
        responses = torch.relu(self.convolution(x.unsqueeze(1)))
        largest = adaptive_max_pool2d(responses, (1, x.shape[2])).squeeze(2)
        patterns = dropout(largest, self.dropout, self.training)  # (batch, kernels, series)
        return self.embed(patterns.transpose(1, 2))  # type: ignore[no-any-return]
