"""iTransformer: attention between series, each of them one token."""

from torch import Tensor, nn
from torch.nn.functional import dropout, gelu

from torchspeed.models.checks import check_input
from torchspeed.models.instance_norm import ReversibleInstanceNorm
from torchspeed.models.registry import register_model
from torchspeed.models.self_attention import SelfAttention


class Layer(nn.Module):
    """Attention between series, then the same network for each; layer norm after both."""

    def __init__(self, width: int, inner: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.attention = SelfAttention(width, heads, dropout)
        self.attention_norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, inner)
        self.outer = nn.Linear(inner, width)
        self.feed_forward_norm = nn.LayerNorm(width)

    def forward(self, h: Tensor) -> Tensor:
        """Map (batch, series, width) to the same shape."""
        h = self.attention_norm(h + self._drop(self.attention(h)))
        inner = self._drop(gelu(self.inner(h)))
        return self.feed_forward_norm(h + self._drop(self.outer(inner)))  # type: ignore[no-any-return]

    def _drop(self, h: Tensor) -> Tensor:
        return dropout(h, self.dropout, self.training)


@register_model("itransformer")
class ITransformer(nn.Module):
    """Inverted transformer encoder.

    Y. Liu et al., "iTransformer: Inverted Transformers Are Effective for Time Series
    Forecasting", ICLR 2024, arXiv:2310.06625, section 3: the whole window of a series is
    embedded as one token, blocks of attention between the series and of a network for each
    transform the tokens, and a linear map of each gives its forecast (eq. 1); layer norm is over
    each token (eq. 2). A series is
    normalised over its window before, without parameters, and its forecast denormalised after;
    a layer norm follows the last block, as in the authors' code. That code also embeds
    marks of the calendar as further tokens, which windows here do not have, and it detaches the
    mean of a window, but not its deviation.

    Maps (batch, window, features) to (batch, horizon, features). 841,568 parameters.

    Args:
        features: series in the input, N in the paper, all of them predicted.
        window: time steps of the input, T.
        horizon: time steps of the forecast, S.
        width: size of a token, D; the heads divide it.
        layers: blocks, L.
    """

    def __init__(
        self,
        *,
        features: int = 7,
        window: int = 96,
        horizon: int = 96,
        width: int = 256,
        heads: int = 8,
        layers: int = 2,
        inner: int = 256,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.features = features
        self.window = window
        self.dropout = dropout
        self.norm = ReversibleInstanceNorm(features, affine=False)
        self.embedding = nn.Linear(window, width)
        self.layers = nn.Sequential(
            *(Layer(width, inner, heads, dropout) for _ in range(layers)), nn.LayerNorm(width)
        )
        self.projection = nn.Linear(width, horizon)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values of every series, (batch, horizon, features)."""
        weight = self.projection.weight
        check_input(x, "batch, window, features", (self.window, self.features), weight)
        x, statistics = self.norm(x)
        h = self.embedding(x.transpose(1, 2))  # eq. 1: (batch, series, width)
        h = self.layers(dropout(h, self.dropout, self.training))
        forecast = self.projection(h)  # (batch, series, horizon)
        return self.norm.reverse(forecast.transpose(1, 2), statistics)
