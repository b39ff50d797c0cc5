"""DSANet: self-attention between series, over global and local temporal patterns."""

from functools import partial
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from torchspeed.models.checks import check_at_most, check_divides, check_input
from torchspeed.models.dsanet_tower import Tower
from torchspeed.models.registry import register_model


class TwoTowers(nn.Module):
    """The parts that DSANet and Flux's version share; subclasses define the forward pass."""

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
        check_at_most("local_length", local_length, "window", window)
        check_divides("heads", heads, "d_model", d_model)
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
    series (encoder layers of Vaswani et al., arXiv:1706.03762), summed with an
    autoregression that all series share. A last linear map from all series to the
    predicted ones is Flux's; the paper and its code (bighuang624/DSANet, 779
    parameters at this configuration) predict every series and end before it.

    FluxArchitectures' version has the same 830 parameters, but attends between the
    heads instead of the series (2 x 2 weights, summed over all series and samples),
    uses the key's weights for the values, leaves out the first layer norm, and
    applies a sigmoid where relu was meant: 168 parameters get no gradient.

    Maps (batch, window, features) to (batch, outputs).

    Args:
        local_length: length of the local filters, at most the window.
        kernels: filters of either convolution.
        d_model: size of a series' representation in the attention.
        d_hidden: size of the feed-forward network's hidden layer.
        heads: attention heads; they divide d_model.
    """

    tower = Tower
    global_tower: Tower
    local_tower: Tower

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values, (batch, outputs)."""
        self.check(x)
        towers = torch.cat((self.global_tower(x), self.local_tower(x)), 2)  # size 2 * kernels
        towers = dropout(towers, self.dropout, self.training)
        nonlinear = self.combine(towers).squeeze(2)  # (batch, series)
        linear = self.autoregression(x.transpose(1, 2)).squeeze(2)  # (batch, series)
        return self.head(nonlinear + linear)  # type: ignore[no-any-return]

    def attention_weights(self, x: Tensor) -> dict[str, Tensor]:
        """Return the weights of both towers, without dropout's zeros.

        ``"global"`` and ``"local"`` are (batch, layers, heads, series, series); each
        sums to one over its last axis.
        """
        self.check(x)
        return {
            "global": self.global_tower.attention_weights(x),
            "local": self.local_tower.attention_weights(x),
        }
