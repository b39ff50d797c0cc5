"""TPA-LSTM: an LSTM whose past is weighed by patterns over time."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from torchspeed.models.checks import check_at_most, check_input, check_sizes
from torchspeed.models.lstm import LSTM
from torchspeed.models.registry import register_model


@register_model("tpa_lstm")
class TPALSTM(nn.Module):
    """Temporal pattern attention LSTM.

    S.-Y. Shih et al., "Temporal Pattern Attention for Multivariate Time Series
    Forecasting", Machine Learning 108 (2019), arXiv:1809.04206. Filters over time turn
    the LSTM's past states H into H^C ("Temporal Pattern Detection using CNN"); the last
    state h_t scores each row of it through W_a, a sigmoid weighs it, and
    h' = W_h h_t + W_v v_t gives the output ("Proposed Attention Mechanism"). The
    embedding with relu before the LSTM is Flux's and jingw2's.

    Flux and jingw2/demand_forecast also apply relu to H and to H^C, which the paper
    does not. FluxArchitectures' version has the same 2063 parameters, but at every time
    step it runs the LSTM along the *samples*, handing the state from one to the next
    without a reset. jingw2's has a second bias a gate (2103 parameters), and a reshape
    there mixes filters and features.

    Maps (batch, window, features) to (batch, outputs).

    Args:
        features: series in the input.
        window: time steps of the input, at least 2: the last one queries the others.
        hidden: size of the embedding and of the LSTM's state, m in the paper.
        layers: LSTM layers.
        filters: filters of the temporal patterns, k.
        filter_size: width of a filter across the state; 1 in the paper.
        outputs: predicted values.
        highway: last steps that an autoregression sees, which is added to the output as in
            LSTNet, one value per series; 0 for none, the default of the authors' code too.

    Raises:
        ValueError: a size below 1, a window below 2, a filter wider than the state, or a highway
            longer than the window or without an output for each series.
    """

    def __init__(
        self,
        *,
        features: int = 10,
        window: int = 10,
        hidden: int = 10,
        layers: int = 1,
        filters: int = 32,
        filter_size: int = 1,
        outputs: int = 1,
        highway: int = 0,
    ) -> None:
        super().__init__()
        check_sizes(
            features=features,
            window=window,
            hidden=hidden,
            layers=layers,
            filters=filters,
            filter_size=filter_size,
            outputs=outputs,
        )
        if window < 2:
            raise ValueError(f"window must be at least 2, for a past to attend to, got {window}")
        check_at_most("filter_size", filter_size, "hidden", hidden)
        self.features = features
        self.window = window
        self.filter_size = filter_size
        self.embedding = nn.Linear(features, hidden)
        self.lstm = LSTM(hidden, hidden, layers)
        self.patterns = nn.Linear((window - 1) * filter_size, filters)  # the filters C
        self.W_a = nn.Linear(hidden, filters)
        self.W_hv = nn.Linear(hidden + filters, hidden)  # [W_h, W_v]
        self.output = nn.Linear(hidden, outputs)
        self.autoregression: nn.Linear | None = None
        if highway:
            check_at_most("highway", highway, "window", window)
            if outputs != features:
                raise ValueError(
                    f"a highway needs an output for each series: {features}, got {outputs}"
                )
            self.autoregression = nn.Linear(highway, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values, (batch, outputs)."""
        past, last = self._states(x)
        alpha = self._attend(past, last)
        # H^C = past C' + b is never built, here or in the scores: weighing its rows and
        # then filtering is the same sum in another order, with far fewer terms.
        context = (alpha.unsqueeze(1) @ past).squeeze(1) @ self.patterns.weight.t()
        context = torch.addcmul(context, alpha.sum(1, keepdim=True), self.patterns.bias)  # v_t
        forecast: Tensor = self.output(self.W_hv(torch.cat((last, context), 1)))
        if self.autoregression is None:
            return forecast
        steps = x[:, self.window - self.autoregression.in_features :]
        linear: Tensor = self.autoregression(steps.transpose(1, 2))  # (batch, features, 1)
        return forecast + linear.squeeze(2)

    def attention_weights(self, x: Tensor) -> dict[str, Tensor]:
        """Return ``"temporal"``, alpha: (batch, rows of H^C), each in (0, 1).

        They come from a sigmoid, one by one, and do not sum to one: the paper wants
        more than one row to count fully.
        """
        return {"temporal": self._attend(*self._states(x))}

    def _states(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the filters see, (batch, rows, time * filter_size), and h_t."""
        check_input(x, "batch, window, features", (self.window, self.features), self.W_a.weight)
        # Flat, as the LSTM's own product takes it: torch.compile then keeps what relu returns for
        # both gradients, and not a mask as well, which it is slow to write.
        embedded = self.embedding(x.transpose(0, 1).flatten(0, 1)).relu()
        steps = embedded.view(self.window, -1, self.lstm.hidden)  # (window, batch, hidden)
        states = self.lstm(steps).transpose(0, 1)  # (batch, window, hidden)
        # (batch, time, rows, filter_size) -> (batch, rows, time * filter_size)
        past = states[:, :-1].unfold(2, self.filter_size, 1).transpose(1, 2).flatten(2)
        return past, states[:, -1]

    def _attend(self, past: Tensor, last: Tensor) -> Tensor:
        query = self.W_a(last)  # (batch, filters)
        # f(H^C_i, h_t) = H^C_i . (W_a h_t), with H^C = past C' + b taken apart.
        scores = (past @ (query @ self.patterns.weight).unsqueeze(2)).squeeze(2)
        return torch.sigmoid(scores + (query @ self.patterns.bias).unsqueeze(1))
