"""Instance norm over time, which is undone in the forecast: level and scale bypass the model."""

import torch
from torch import Tensor, nn

Statistics = tuple[Tensor, Tensor]
"""Mean and standard deviation of each series in its window, (batch, 1, features) each."""


class ReversibleInstanceNorm(nn.Module):
    """Normalises each series of a window, and gives a forecast its level and scale back.

    T. Kim et al., "Reversible Instance Normalization for Accurate Time-Series Forecasting
    against Distribution Shift", ICLR 2022. The authors' code treats mean and deviation as
    constants in a backward pass; here the gradient reaches the input through them too. The
    gradient of the parameters is the same.

    Args:
        features: series in the input.
        affine: learn a factor and an offset for each series: 2 x features parameters.
    """

    eps = 1e-5
    """Added to the variance, as in the authors' code: a constant series has none."""

    def __init__(self, features: int, *, affine: bool) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(features)) if affine else None
        self.beta = nn.Parameter(torch.zeros(features)) if affine else None

    def forward(self, x: Tensor) -> tuple[Tensor, Statistics]:
        """Return the normalised window, (batch, window, features), and its statistics."""
        mean = x.mean(1, keepdim=True)
        deviation = torch.sqrt(x.var(1, keepdim=True, unbiased=False) + self.eps)
        x = (x - mean) / deviation
        if self.gamma is not None and self.beta is not None:
            x = x * self.gamma + self.beta
        return x, (mean, deviation)

    def reverse(self, forecast: Tensor, statistics: Statistics) -> Tensor:
        """Give a forecast, (batch, horizon, features), the level and scale of its window."""
        mean, deviation = statistics
        if self.gamma is not None and self.beta is not None:
            forecast = (forecast - self.beta) / self.gamma
        return forecast * deviation + mean
