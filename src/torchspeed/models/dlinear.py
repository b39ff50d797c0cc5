"""DLinear: trend and remainder of each series, forecast by one linear map each."""

from torch import Tensor, nn
from torch.nn.functional import avg_pool1d, pad

from torchspeed.models.checks import check_input
from torchspeed.models.registry import register_model


@register_model("dlinear")
class DLinear(nn.Module):
    """Decomposition into trend and remainder, and a linear map over time for each.

    A. Zeng et al., "Are Transformers Effective for Time Series Forecasting?", AAAI 2023,
    arXiv:2205.13504, section 4: a moving average splits each series into X_t and
    X_s = X - X_t; the forecast is W_s X_s + W_t X_t. The average repeats the first and the last
    value beyond the ends, so that it is as long as the window. All series share the two maps,
    the paper's DLinear-S and the default of the authors' code.

    18,624 parameters, (96 x 96 + 96) per map: the authors' code gives each map a bias, which
    the paper's formula leaves out.

    Maps (batch, window, features) to (batch, horizon, features).

    Args:
        kernel: time steps of the moving average.
    """

    def __init__(
        self, *, features: int = 7, window: int = 96, horizon: int = 96, kernel: int = 25
    ) -> None:
        super().__init__()
        self.features = features
        self.window = window
        self.kernel = kernel
        self.W_s = nn.Linear(window, horizon)
        self.W_t = nn.Linear(window, horizon)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values of every series, (batch, horizon, features)."""
        check_input(x, "batch, window, features", (self.window, self.features), self.W_s.weight)
        series = x.transpose(1, 2)  # X: (batch, features, window)
        before = (self.kernel - 1) // 2
        ends = (before, self.kernel - 1 - before)
        trend = avg_pool1d(pad(series, ends, mode="replicate"), self.kernel, stride=1)  # X_t
        remainder = series - trend  # X_s
        forecast: Tensor = self.W_s(remainder) + self.W_t(trend)  # (batch, features, horizon)
        return forecast.transpose(1, 2)
