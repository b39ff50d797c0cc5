"""TCN: convolutions over the past that reach twice as far at every level."""

import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d, dropout, pad

from torchspeed.models.checks import check_input
from torchspeed.models.registry import register_model


class CausalConvolution(nn.Module):
    """A dilated convolution that sees no later step, with weight norm.

    T. Salimans and D. Kingma, "Weight Normalization", NeurIPS 2016, arXiv:1602.07868:
    w = g v / |v|, with a norm for each filter. ``torch._weight_norm`` is the operator that both
    of torch's wrappers call; one of them is deprecated, and torch 2.0 lacks the other.
    """

    def __init__(self, inputs: int, outputs: int, kernel: int, dilation: int) -> None:
        super().__init__()
        start = nn.Conv1d(inputs, outputs, kernel)
        self.v = start.weight  # (outputs, inputs, kernel)
        self.g = nn.Parameter(start.weight.detach().norm(2, (1, 2), keepdim=True))
        self.bias = start.bias
        self.dilation = dilation
        self.reach = (kernel - 1) * dilation

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, steps) to (batch, outputs, steps)."""
        w = torch._weight_norm(self.v, self.g, 0)
        return conv1d(pad(x, (self.reach, 0)), w, self.bias, dilation=self.dilation)  # eq. 2


class Level(nn.Module):
    """The residual block of the paper's figure 1b: two convolutions and a residual connection."""

    def __init__(
        self, inputs: int, channels: int, kernel: int, dilation: int, dropout: float
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.first = CausalConvolution(inputs, channels, kernel, dilation)
        self.second = CausalConvolution(channels, channels, kernel, dilation)
        self.around = nn.Conv1d(inputs, channels, 1) if inputs != channels else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, steps) to (batch, channels, steps)."""
        inner = x
        for convolution in (self.first, self.second):
            inner = dropout(torch.relu(convolution(inner)), self.dropout, self.training)
        return torch.relu(self.around(x) + inner)  # eq. 3


@register_model("tcn")
class TCN(nn.Module):
    """Temporal convolutional network.

    S. Bai et al., "An Empirical Evaluation of Generic Convolutional and Recurrent Networks for
    Sequence Modeling", 2018, arXiv:1803.01271, section 3: causal convolutions, dilated by
    1, 2, 4, ... (eq. 2), in residual blocks (eq. 3, figure 1) with weight norm, relu and dropout,
    which here drops single values, as the authors' code does. The five
    levels see 1 + 2 x 2 x (1 + 2 + 4 + 8 + 16) = 125 steps, more than the window. A linear
    map of the last step gives the whole forecast: the paper predicts one step or symbol. The
    authors' code draws filters from N(0, 0.01); here they start as torch's.

    Maps (batch, window, features) to (batch, horizon, features). 51,392 parameters.

    Args:
        channels: filters of every convolution.
        levels: residual blocks.
        kernel: length of the filters.
    """

    def __init__(
        self,
        *,
        features: int = 7,
        window: int = 96,
        horizon: int = 96,
        channels: int = 32,
        levels: int = 5,
        kernel: int = 3,
        dropout: float = 0.2,
    ) -> None:
        super().__init__()
        self.features = features
        self.window = window
        self.levels = nn.Sequential(
            *(
                Level(features if level == 0 else channels, channels, kernel, 2**level, dropout)
                for level in range(levels)
            )
        )
        self.output = nn.Linear(channels, horizon * features)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values of every series, (batch, horizon, features)."""
        check_input(x, "batch, window, features", (self.window, self.features), self.output.weight)
        states = self.levels(x.transpose(1, 2))  # (batch, channels, window)
        forecast: Tensor = self.output(states[:, :, -1])  # (batch, horizon * features)
        return forecast.view(x.shape[0], -1, self.features)
