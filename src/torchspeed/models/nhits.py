"""N-HiTS: stacks that each read a series at a different rate and forecast a few of its points."""

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn.functional import interpolate, max_pool1d

from torchspeed.models.checks import check_at_most, check_input, check_sizes
from torchspeed.models.registry import register_model


class Block(nn.Module):
    """One block: sampled input, a network, a backcast of the input and a forecast."""

    def __init__(self, window: int, horizon: int, hidden: int, pool: int, frequency: int) -> None:
        super().__init__()
        self.horizon = horizon
        self.pool = pool
        knots = -(-horizon // frequency)  # the paper's ceiling of r x H, with r = 1 / frequency
        self.mlp = nn.Sequential(
            nn.Linear(-(-window // pool), hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
        )
        self.backcast = nn.Linear(hidden, window)
        self.forecast = nn.Linear(hidden, knots)

    def forward(self, y: Tensor) -> tuple[Tensor, Tensor]:
        """Map series, (batch, window), to a backcast of them and (batch, horizon)."""
        sampled = max_pool1d(y.unsqueeze(1), self.pool, ceil_mode=True).squeeze(1)  # eq. 1
        h = self.mlp(sampled)  # eq. 2: (batch, hidden)
        theta_b, theta_f = self.backcast(h), self.forecast(h)  # (batch, window), (batch, knots)
        forecast = interpolate(theta_f.unsqueeze(1), self.horizon, mode="linear")  # eq. 3 and 4
        return theta_b, forecast.squeeze(1)


@register_model("nhits")
class NHITS(nn.Module):
    """Neural hierarchical interpolation for time series.

    C. Challu et al., "N-HiTS: Neural Hierarchical Interpolation for Time Series Forecasting",
    AAAI 2023, arXiv:2201.12886, section 3. A block takes maxima of its input (multi-rate signal
    sampling, eq. 1), maps them by a network with relu to a few coefficients (non-linear
    regression, eq. 2), and interpolates these linearly over time (hierarchical interpolation,
    eq. 3 and 4); what its backcast explains is subtracted from the next block's input, and the
    forecasts add up. Stacks go from coarse to fine. Every series is a sample of its own.

    As in the authors' code, a stack has one block; its backcast has a coefficient for each
    step of the window, with nothing to interpolate, and torch's ``interpolate`` puts the knots
    of a forecast at the centres of equal parts of the horizon, with constants beyond them. That
    code also reads windows backwards, adds the forecasts to the window's last value, and rounds
    the number of knots down; none of these is in the paper or here. Nixtla/neuralforecast's blocks
    lack the relu after their first map.

    1,121,736 parameters. The last backcast is computed although no block reads it, as in the
    authors' code; its 49,248 parameters get no gradient.

    Maps (batch, window, features) to (batch, horizon, features).

    Args:
        window: time steps of the input, L in the paper.
        horizon: time steps of the forecast, H.
        hidden: size of both layers of a block.
        pools: steps that one maximum of a stack covers, k; at most the window.
        frequencies: steps of the horizon for each coefficient of a stack, 1 / r.
    """

    def __init__(
        self,
        *,
        features: int = 7,
        window: int = 96,
        horizon: int = 96,
        hidden: int = 512,
        pools: Sequence[int] = (2, 2, 1),
        frequencies: Sequence[int] = (4, 2, 1),
    ) -> None:
        super().__init__()
        if len(pools) != len(frequencies) or not pools:
            raise ValueError(
                f"pools and frequencies must have one number a stack, got {len(pools)} and "
                f"{len(frequencies)}"
            )
        blocks = []
        for pool, frequency in zip(pools, frequencies, strict=True):
            check_sizes(pool=pool, frequency=frequency)
            check_at_most("pool", pool, "window", window)
            blocks.append(Block(window, horizon, hidden, pool, frequency))
        blocks[-1].backcast.requires_grad_(False)  # no block reads it
        self.features = features
        self.window = window
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values of every series, (batch, horizon, features)."""
        first = next(self.parameters())
        check_input(x, "batch, window, features", (self.window, self.features), first)
        y = x.transpose(1, 2).flatten(0, 1)  # (batch * features, window)
        forecasts = []
        for block in self.blocks:
            backcast, forecast = block(y)
            forecasts.append(forecast)
            y = y - backcast  # what is left to explain
        total: Tensor = sum(forecasts[1:], forecasts[0])  # (batch * features, horizon)
        return total.view(x.shape[0], self.features, -1).transpose(1, 2)
