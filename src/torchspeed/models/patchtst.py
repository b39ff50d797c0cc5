"""PatchTST: attention between patches of a series."""

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, gelu, pad

from torchspeed.models.checks import check_at_most, check_input
from torchspeed.models.instance_norm import ReversibleInstanceNorm
from torchspeed.models.registry import register_model
from torchspeed.models.self_attention import SelfAttention


class Layer(nn.Module):
    """Attention between patches, then the same network for each; batch norm after both."""

    def __init__(self, width: int, inner: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.attention = SelfAttention(width, heads)
        self.attention_norm = nn.BatchNorm1d(width)
        self.inner = nn.Linear(width, inner)
        self.outer = nn.Linear(inner, width)
        self.feed_forward_norm = nn.BatchNorm1d(width)

    def forward(self, x: Tensor) -> Tensor:
        """Map (series, patches, width) to the same shape."""
        x = x + self._drop(self.attention(x))
        x = self.attention_norm(x.transpose(1, 2)).transpose(1, 2)
        x = x + self._drop(self.outer(self._drop(gelu(self.inner(x)))))
        return self.feed_forward_norm(x.transpose(1, 2)).transpose(1, 2)  # type: ignore[no-any-return]

    def _drop(self, x: Tensor) -> Tensor:
        return dropout(x, self.dropout, self.training)


@register_model("patchtst")
class PatchTST(nn.Module):
    """Channel-independent transformer encoder over patches.

    Y. Nie et al., "A Time Series is Worth 64 Words: Long-term Forecasting with Transformers",
    ICLR 2023, arXiv:2211.14730, section 3.1: every series is a sample of its own, normalised
    over its window; the last value is repeated S times, and patches of P steps, S apart,
    become tokens W_p x + W_pos; a transformer encoder with batch norm mixes them, and one
    linear map of all tokens gives the forecast.

    Reversible instance norm has learned factors here; the authors' code can have them, but its
    command turns them off by default. That code also adds the attention scores of a layer to
    those of the next, and applies dropout to the output of attention twice; the paper mentions
    neither, and both are left out here. They change no count of parameters.

    Maps (batch, window, features) to (batch, horizon, features). 548,718 parameters.

    Args:
        window: time steps of the input, L in the paper.
        horizon: time steps of the forecast, T.
        patch: steps of a patch, P; at most the window.
        stride: steps from one patch to the next, S.
        width: size of a token, D; the heads divide it.
        heads: attention heads, H.
    """

    def __init__(
        self,
        *,
        features: int = 7,
        window: int = 96,
        horizon: int = 96,
        patch: int = 16,
        stride: int = 8,
        width: int = 128,
        heads: int = 16,
        layers: int = 3,
        inner: int = 256,
        dropout: float = 0.2,
    ) -> None:
        super().__init__()
        check_at_most("patch", patch, "window", window)
        self.features = features
        self.window = window
        self.patch = patch
        self.stride = stride
        self.dropout = dropout
        patches = (window - patch) // stride + 2  # N
        self.norm = ReversibleInstanceNorm(features, affine=True)
        self.W_p = nn.Linear(patch, width)
        self.W_pos = nn.Parameter(torch.empty(patches, width).uniform_(-0.02, 0.02))
        self.layers = nn.Sequential(*(Layer(width, inner, heads, dropout) for _ in range(layers)))
        self.output = nn.Linear(patches * width, horizon)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values of every series, (batch, horizon, features)."""
        check_input(x, "batch, window, features", (self.window, self.features), self.output.weight)
        x, statistics = self.norm(x)
        series = x.transpose(1, 2)  # (batch, features, window)
        series = pad(series, (0, self.stride), mode="replicate")
        patches = series.unfold(2, self.patch, self.stride)  # (batch, features, patches, patch)
        # W_p x + W_pos: (batch * features, patches, width)
        tokens = self.W_p(patches.flatten(0, 1)) + self.W_pos
        tokens = self.layers(dropout(tokens, self.dropout, self.training))
        forecast = self.output(tokens.flatten(1))  # (batch * features, horizon)
        forecast = forecast.unflatten(0, (-1, self.features)).transpose(1, 2)
        return self.norm.reverse(forecast, statistics)
