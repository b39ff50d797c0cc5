"""DSANet: self-attention between series, over global and local temporal patterns."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import ClassVar, cast

import torch
from torch import Tensor, nn

from torchspeed.models.attention import attend, attention_weights
from torchspeed.models.checks import check_at_most, check_fraction, check_input, check_sizes
from torchspeed.models.dropout import dropout
from torchspeed.models.registry import register_model


def apply(linear: nn.Linear, x: Tensor) -> Tensor:
    """Apply a linear map to the first axis of (size, batch, series) or (size, batch * series)."""
    out = torch.addmm(linear.bias.unsqueeze(1), linear.weight, x.flatten(1))
    return out.view(-1, *x.shape[1:])


class Norm(nn.Module):
    """Layer norm of the first axis (arXiv:1607.06450), with a gain and a bias.

    ``torch.nn.LayerNorm`` wants that axis last, where a size as small as 4 leaves most
    of a vector register empty: measured on one CPU thread, a tenth of the speed.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, x: Tensor) -> Tensor:
        """Map (size, batch, series) to the same shape."""
        centred = x - x.mean(0)
        scale = torch.rsqrt(centred.square().mean(0) + 1e-5)
        return torch.addcmul(self.bias[:, None, None], centred * scale, self.weight[:, None, None])


class SelfAttention(nn.Module):
    """Multi-head self-attention between the series, with residual and layer norm."""

    def __init__(self, d_model: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.query_key_value = nn.Linear(d_model, 3 * d_model)  # one product for the three
        self.output = nn.Linear(d_model, d_model)
        self.norm = Norm(d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map (d_model, batch, series) to the same shape."""
        d_model, batch, series = x.shape
        mixed = attend(*self._heads_of(x), self._drop).view(self.heads, batch, -1, series)
        mixed = apply(self.output, mixed.transpose(1, 2).reshape(d_model, batch, series))
        out: Tensor = self.norm(x + self._drop(mixed))
        return out

    def weights(self, x: Tensor) -> Tensor:
        """Return the weights, (heads * batch, query, key), which sum to one over the last axis."""
        query, key, _ = self._heads_of(x)
        return attention_weights(query, key).transpose(1, 2)

    def _heads_of(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return query, key and value, (heads * batch, size, series) each."""
        d_model, batch, series = x.shape
        size = d_model // self.heads
        query, key, value = (
            part.view(self.heads, size, batch, series).transpose(1, 2).reshape(-1, size, series)
            for part in apply(self.query_key_value, x).chunk(3)
        )
        return query, key, value

    def _drop(self, x: Tensor) -> Tensor:
        return dropout(x, self.dropout, self.training)


class FeedForward(nn.Module):
    """The same small network for each series, with residual and layer norm."""

    def __init__(self, d_model: int, d_hidden: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.inner = nn.Linear(d_model, d_hidden)
        self.outer = nn.Linear(d_hidden, d_model)
        self.norm = Norm(d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map (d_model, batch, series) to the same shape."""
        # Flat: torch.compile then keeps what relu returns, and no mask, which it is slow to write.
        inner = apply(self.outer, apply(self.inner, x.flatten(1)).relu()).view_as(x)
        out: Tensor = self.norm(x + dropout(inner, self.dropout, self.training))
        return out


class Layer(nn.Module):
    """Attention between the series, then the same network for each."""

    def __init__(self, d_model: int, d_hidden: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attention = SelfAttention(d_model, heads, dropout)
        self.feed_forward = FeedForward(d_model, d_hidden, dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map (d_model, batch, series) to the same shape."""
        out: Tensor = self.feed_forward(self.attention(x))
        return out


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
        self.heads = heads
        self.dropout = dropout
        self.convolution = nn.Conv2d(1, kernels, (length, 1))
        self.embed = nn.Linear(kernels, d_model)
        self.layers = nn.ModuleList(
            Layer(d_model, d_hidden, heads, dropout) for _ in range(layers)
        )
        self.unembed = nn.Linear(d_model, kernels)

    def forward(self, x: Tensor) -> Tensor:
        """Map (window, batch, series) to (kernels, batch, series)."""
        patterns = self._patterns(x)
        for layer in self.layers:
            patterns = layer(patterns)
        return apply(self.unembed, patterns)

    def attention_weights(self, x: Tensor) -> Tensor:
        """Return the weights of every layer, (batch, layers, heads, series, series)."""
        patterns = self._patterns(x)
        weights = []
        for layer in cast("Iterable[Layer]", self.layers):
            weights.append(layer.attention.weights(patterns).unflatten(0, (self.heads, -1)))
            patterns = layer(patterns)
        return torch.stack(weights).permute(2, 0, 1, 3, 4)

    def _patterns(self, x: Tensor) -> Tensor:
        """Convolve, and return (d_model, batch, series).

        The filters are written as one banded matrix, as LSTNet's: a row for each filter
        and position. One product over all series then leaves them last, where the layers
        want them; measured on one CPU thread, it makes the whole model 1.05 times as fast
        forward and 1.13 times backward as torch's Conv2d does.
        """
        window = x.shape[0]
        weight = self.convolution.weight.flatten(1)  # (kernels, length)
        kernels, length = weight.shape
        positions = window - length + 1
        # Filters in rows of window + 1 numbers, read in rows of window numbers: each
        # starts one step later than the row before.
        rows = nn.functional.pad(weight, (0, window + 1 - length))
        band = rows.repeat(1, positions)[:, : positions * window].reshape(-1, window)
        responses = (band @ x.flatten(1)).view(kernels, positions, -1)
        # The largest response, then bias and relu: the same function of less data.
        bias = cast("Tensor", self.convolution.bias).unsqueeze(1)
        patterns = (responses.amax(1) + bias).relu()  # (kernels, batch * series)
        patterns = apply(self.embed, dropout(patterns, self.dropout, self.training))
        return patterns.view(-1, *x.shape[1:])


class TwoTowers(nn.Module):
    """The parts of DSANet, which Flux's version shares; subclasses say how they are used."""

    tower: ClassVar[type[nn.Module]]
    """Makes one tower from the length of its filters and the sizes below."""

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
            self.tower,
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

    def check(self, x: Tensor) -> None:
        """Raise ValueError unless ``x`` is a batch of windows that fits."""
        check_input(x, "batch, window, features", (self.window, self.features), self.head.weight)


@register_model("dsanet")
class DSANet(TwoTowers):
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

    tower = Tower
    global_tower: Tower
    local_tower: Tower

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values, (batch, outputs)."""
        self.check(x)
        # From here to the head the series come last, where the arithmetic is fast.
        steps = x.transpose(0, 1).contiguous()  # (window, batch, series)
        towers = torch.cat((self.global_tower(steps), self.local_tower(steps)))
        towers = dropout(towers, self.dropout, self.training)
        nonlinear = apply(self.combine, towers).squeeze(0)  # (batch, series)
        linear = self.autoregression(x.transpose(1, 2)).squeeze(2)  # (batch, series)
        return self.head(nonlinear + linear)  # type: ignore[no-any-return]

    def attention_weights(self, x: Tensor) -> dict[str, Tensor]:
        """Return the weights of both towers, without dropout's zeros.

        ``"global"`` and ``"local"`` are (batch, layers, heads, series, series); each
        sums to one over its last axis.
        """
        self.check(x)
        steps = x.transpose(0, 1)
        return {
            "global": self.global_tower.attention_weights(steps),
            "local": self.local_tower.attention_weights(steps),
        }
