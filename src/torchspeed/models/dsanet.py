"""DSANet: self-attention between series, over global and local temporal patterns."""

from __future__ import annotations

import math
from functools import partial
from typing import cast

import torch
from torch import Tensor, nn

from torchspeed.models.checks import check_at_most, check_fraction, check_input, check_sizes
from torchspeed.models.registry import register_model


class SelfAttention(nn.Module):
    """Multi-head self-attention between the series, with residual and layer norm."""

    def __init__(self, d_model: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.query_key_value = nn.Linear(d_model, 3 * d_model)  # one product for the three
        self.output = nn.Linear(d_model, d_model)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, series, d_model) to the same shape."""
        query, key, value = self._split(x)
        mixed = nn.functional.scaled_dot_product_attention(
            query, key, value, dropout_p=self.dropout if self.training else 0.0
        )
        mixed = self.output(mixed.transpose(1, 2).flatten(2))
        return self.norm(x + nn.functional.dropout(mixed, self.dropout, self.training))  # type: ignore[no-any-return]

    def weights(self, x: Tensor) -> Tensor:
        """Return the attention weights, (batch, heads, series, series)."""
        query, key, _ = self._split(x)
        scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[3])
        return scores.softmax(3)

    def _split(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        # (batch, series, 3 d_model) -> three of (batch, heads, series, d_model / heads)
        query, key, value = (
            self.query_key_value(x).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        )
        return query, key, value


class FeedForward(nn.Module):
    """The same small network for each series, with residual and layer norm."""

    def __init__(self, d_model: int, d_hidden: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.inner = nn.Linear(d_model, d_hidden)
        self.outer = nn.Linear(d_hidden, d_model)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, series, d_model) to the same shape."""
        inner = self.outer(self.inner(x).relu())
        return self.norm(x + nn.functional.dropout(inner, self.dropout, self.training))  # type: ignore[no-any-return]


class Tower(nn.Module):
    """Temporal patterns of each series, then layers of attention between the series.

    A filter of the window's whole length sees global patterns; a shorter one is
    moved along the window, and the largest response kept, for local ones.
    """

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
            nn.Sequential(
                SelfAttention(d_model, heads, dropout), FeedForward(d_model, d_hidden, dropout)
            )
            for _ in range(layers)
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
        for layer in self.layers:
            attention = cast("SelfAttention", next(layer.children()))
            weights.append(attention.weights(patterns))
            patterns = layer(patterns)
        return torch.stack(weights, 1)

    def _patterns(self, x: Tensor) -> Tensor:
        responses = self.convolution(
            x.unsqueeze(1)
        )  # (batch, kernels, window - length + 1, series)
        # The largest response, then relu: the same function as relu first, of less data.
        patterns = responses.amax(2).relu().transpose(1, 2)  # (batch, series, kernels)
        return self.embed(nn.functional.dropout(patterns, self.dropout, self.training))  # type: ignore[no-any-return]


@register_model("dsanet")
class DSANet(nn.Module):
    """Dual self-attention network.

    S. Huang et al., "DSANet: Dual Self-Attention Network for Multivariate Time Series
    Forecasting", CIKM 2019, doi:10.1145/3357384.3358132: a global and a local
    temporal convolution, each followed by layers of self-attention between the
    series (as in Vaswani et al., arXiv:1706.03762, eq. 1 and 2), summed with an
    autoregression that all series share. A last linear map from all series to the
    predicted ones is Flux's; the paper and its code (bighuang624/DSANet, 779
    parameters at this configuration) predict every series and end before it.

    FluxArchitectures' version has the same 830 parameters, but attends between the
    heads instead of the series (2 x 2 weights, summed over all series and samples),
    uses the key's weights for the values, leaves out the first layer norm, and
    applies a sigmoid where relu was meant: 168 parameters get no gradient.

    Maps (batch, window, features) to (batch, outputs).

    Args:
        features: series in the input.
        window: time steps of the input.
        local_length: length of the local filters, at most the window.
        kernels: filters of either convolution.
        d_model: size of a series' representation in the attention.
        d_hidden: size of the feed-forward network's hidden layer.
        layers: attention layers of either tower.
        heads: attention heads; they divide d_model.
        outputs: predicted series.
        dropout: probability, in training mode, as both sources have it.

    Raises:
        ValueError: a size below 1, a local filter longer than the window, heads that
            do not divide d_model, or a dropout outside [0, 1).
    """

    def __init__(
        self,
        *,
        features: int = 50,
        window: int = 10,
        local_length: int = 3,
        kernels: int = 3,
        d_model: int = 4,
        d_hidden: int = 1,
        layers: int = 3,
        heads: int = 2,
        outputs: int = 1,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        check_sizes(
            features=features,
            window=window,
            local_length=local_length,
            kernels=kernels,
            d_model=d_model,
            d_hidden=d_hidden,
            layers=layers,
            heads=heads,
            outputs=outputs,
        )
        check_fraction(dropout=dropout)
        check_at_most("local_length", local_length, "window", window)
        if d_model % heads:
            raise ValueError(f"heads must divide d_model, {d_model}, got {heads}")
        self.features = features
        self.window = window
        self.dropout = dropout
        tower = partial(
            Tower,
            kernels=kernels,
            d_model=d_model,
            d_hidden=d_hidden,
            layers=layers,
            heads=heads,
            dropout=dropout,
        )
        self.global_tower = tower(window)
        self.local_tower = tower(local_length)
        self.combine = nn.Linear(2 * kernels, 1)
        self.autoregression = nn.Linear(window, 1)
        self.head = nn.Linear(features, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values, (batch, outputs)."""
        self._check(x)
        towers = torch.cat((self.global_tower(x), self.local_tower(x)), 2)
        towers = nn.functional.dropout(towers, self.dropout, self.training)
        nonlinear = self.combine(towers).squeeze(2)  # (batch, series)
        linear = self.autoregression(x.transpose(1, 2)).squeeze(2)  # (batch, series)
        return self.head(nonlinear + linear)  # type: ignore[no-any-return]

    def attention_weights(self, x: Tensor) -> dict[str, Tensor]:
        """Return the weights of both towers, computed anew: call it in eval mode.

        ``"global"`` and ``"local"`` are (batch, layers, heads, series, series); each
        sums to one over its last axis.
        """
        self._check(x)
        return {
            "global": self.global_tower.attention_weights(x),
            "local": self.local_tower.attention_weights(x),
        }

    def _check(self, x: Tensor) -> None:
        check_input(x, "batch, window, features", (self.window, self.features), self.head.weight)
