"""DSANet as FluxArchitectures computes it, which differs from the paper."""

import math

import torch
from torch import Tensor, nn

from torchspeed.models.dsanet import TwoTowers
from torchspeed.models.dsanet_tower import Tower
from torchspeed.models.registry import register_model

EPSILON = math.sqrt(torch.finfo(torch.float32).eps)
"""What Flux's layer norm adds to the standard deviation."""


class LiteralNorm(nn.Module):
    """Layer norm over the last axis, with epsilon added to the deviation, not to the variance."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, x: Tensor) -> Tensor:
        """Map (rows, size) to the same shape."""
        deviation, mean = torch.std_mean(x, 1, correction=0, keepdim=True)
        return torch.addcmul(self.bias, (x - mean) / (deviation + EPSILON), self.weight)


class LiteralLayer(nn.Module):
    """Attention between heads, with scores summed over all series and samples."""

    def __init__(self, d_model: int, d_hidden: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        # Flux has these two and never calls them.
        self.value = nn.Linear(d_model, d_model).requires_grad_(False)
        self.first_norm = LiteralNorm(d_model).requires_grad_(False)
        self.output = nn.Linear(d_model, d_model)
        self.inner = nn.Linear(d_model, d_hidden)
        self.outer = nn.Linear(d_hidden, d_model)
        self.norm = LiteralNorm(d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map (rows, d_model), a row for each series of each sample, to the same shape."""
        rows, d_model = x.shape
        size = d_model // self.heads
        # The head is the fastest axis: (rows, size, heads) -> (size, heads, rows).
        query, key, value = (
            linear(x).view(rows, size, self.heads).permute(1, 2, 0)
            for linear in (self.query, self.key, self.key)
        )
        # Summed over all rows: (size, heads, heads).
        weights = (query @ key.transpose(1, 2) / math.sqrt(size)).softmax(2)
        # Flux makes the attention's dropout anew at each call, so it always acts when training.
        weights = nn.functional.dropout(weights, self.dropout, self.training)
        mixed = self.output((weights @ value).permute(2, 0, 1).reshape(rows, d_model))
        x = x + nn.functional.dropout(mixed, self.dropout, self.training)
        inner = self.outer(self.inner(x).sigmoid())
        out: Tensor = self.norm(x + nn.functional.dropout(inner, self.dropout, self.training))
        return out


class LiteralTower(Tower):
    """Temporal patterns of each series, then the attention layers."""

    layer = LiteralLayer

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, window, series) to (batch * series, kernels)."""
        patterns = self.convolution(x.unsqueeze(1)).relu().amax(2)  # (batch, kernels, series)
        patterns = nn.functional.dropout(patterns, self.dropout, self.training)
        rows = self.embed(patterns.transpose(1, 2).flatten(0, 1))
        for layer in self.layers:
            rows = layer(rows)
        return self.unembed(rows)  # type: ignore[no-any-return]


@register_model("dsanet_flux_literal")
class DSANetFluxLiteral(TwoTowers):
    """What sdobber/FluxArchitectures computes under the name of DSANet.

    It is for comparisons with published values; to forecast, use `DSANet`. It differs from
    the paper (doi:10.1145/3357384.3358132): heads attend to heads, not series to series,
    once for each of a head's numbers, with products summed over all series and all *samples*;
    the key's weights serve for the values; the first layer norm is left out; the feed-forward
    network has a sigmoid where relu was meant. 168 of the 830 parameters are never used
    and get no gradient.

    Maps (batch, window, features) to (batch, outputs). Sizes as in `DSANet`.
    """

    tower = LiteralTower

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values, (batch, outputs)."""
        self.check(x)
        towers = torch.cat((self.global_tower(x), self.local_tower(x)), 1)
        towers = nn.functional.dropout(towers, self.dropout, self.training)
        nonlinear = self.combine(towers).relu().view(-1, self.features)
        linear = self.autoregression(x.transpose(1, 2)).squeeze(2)
        return self.head(nonlinear + linear)  # type: ignore[no-any-return]
