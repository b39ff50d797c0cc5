"""TSMixer: networks that mix time steps, then features, in turn."""

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from torchspeed.models.checks import check_input
from torchspeed.models.instance_norm import ReversibleInstanceNorm
from torchspeed.models.registry import register_model


class MixerBlock(nn.Module):
    """Time mixing, then feature mixing, each with a norm before it and a residual connection."""

    def __init__(self, window: int, features: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.time_norm = nn.BatchNorm1d(window * features)
        self.time = nn.Linear(window, window)
        self.feature_norm = nn.BatchNorm1d(window * features)
        self.inner = nn.Linear(features, inner)
        self.outer = nn.Linear(inner, features)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, window, features) to the same shape."""
        mixed = self.time_norm(x.flatten(1)).view(x.shape)
        mixed = torch.relu(self.time(mixed.transpose(1, 2))).transpose(1, 2)
        x = x + self._drop(mixed)
        mixed = self.feature_norm(x.flatten(1)).view(x.shape)
        mixed = self._drop(torch.relu(self.inner(mixed)))  # (batch, window, inner)
        return x + self._drop(self.outer(mixed))

    def _drop(self, x: Tensor) -> Tensor:
        return dropout(x, self.dropout, self.training)


@register_model("tsmixer")
class TSMixer(nn.Module):
    """Multi-layer perceptrons over time and over features, in turn.

    S.-A. Chen et al., "TSMixer: An All-MLP Architecture for Time Series Forecasting",
    Transactions on Machine Learning Research 2023, arXiv:2303.06053, section 4 and figure 1:
    each mixer layer applies a linear map with relu over time, shared by all series, then a
    network of two layers over features, shared by all steps, both after a two-dimensional norm
    and with a residual connection; a temporal projection follows. The norm is batch norm with a
    mean and variance for every step of every series; around it all is reversible instance
    norm, as in the authors' experiments. Batch norm is torch's, which adds 0.00001 to the
    variance and averages it with momentum 0.1; that of the authors' code, Keras's, adds 0.001 and
    has what torch would call momentum 0.01.

    Maps (batch, window, features) to (batch, horizon, features). 35,260 parameters.

    Args:
        features: series in the input, C in the paper, all of them predicted.
        window: time steps of the input, L.
        horizon: time steps of the forecast, T.
        blocks: mixer layers.
        inner: size of the hidden layer over features.
    """

    def __init__(
        self,
        *,
        features: int = 7,
        window: int = 96,
        horizon: int = 96,
        blocks: int = 2,
        inner: int = 64,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.features = features
        self.window = window
        self.norm = ReversibleInstanceNorm(features, affine=True)
        self.blocks = nn.Sequential(
            *(MixerBlock(window, features, inner, dropout) for _ in range(blocks))
        )
        self.projection = nn.Linear(window, horizon)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values of every series, (batch, horizon, features)."""
        weight = self.projection.weight
        check_input(x, "batch, window, features", (self.window, self.features), weight)
        x, statistics = self.norm(x)
        mixed = self.blocks(x)  # (batch, window, features)
        forecast = self.projection(mixed.transpose(1, 2)).transpose(1, 2)
        return self.norm.reverse(forecast, statistics)
