"""TPA-LSTM: an LSTM whose past states are weighted by patterns over time."""

import torch
from torch import Tensor, nn

from torchspeed.models.checks import check_at_most, check_input, check_sizes
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
    does not. 2,103 parameters, as jingw2's: ``torch.nn.LSTM`` has a second bias per gate, 40
    numbers, that the paper does not have; a reshape in jingw2's mixes filters and features.
    FluxArchitectures' version has 2,063, but at every time step it runs the LSTM along the
    *samples*, handing the state from one to the next without a reset.

    Maps (batch, window, features) to (batch, outputs).

    Args:
        window: time steps of the input, at least 2: the last one queries the others.
        hidden: size of the embedding and of the LSTM's state, m in the paper.
        filters: filters of the temporal patterns, k.
        filter_size: width of a filter across the state; 1 in the paper.
        outputs: predicted values.
        highway: last steps that an autoregression sees, which is added to the output as in
            LSTNet, one value per series; 0 for none, the default of the authors' code too.
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
        if window < 2:
            raise ValueError(f"window must be at least 2, for a past to attend to, got {window}")
        check_at_most("filter_size", filter_size, "hidden", hidden)
        self.features = features
        self.window = window
        self.embedding = nn.Linear(features, hidden)
        self.lstm = nn.LSTM(hidden, hidden, layers, batch_first=True)
        self.patterns = nn.Conv2d(1, filters, (window - 1, filter_size))  # the filters C
        self.W_a = nn.Linear(hidden, filters)
        self.W_hv = nn.Linear(hidden + filters, hidden)  # [W_h, W_v]
        self.output = nn.Linear(hidden, outputs)
        self.autoregression: nn.Linear | None = None
        if highway != 0:
            check_sizes(highway=highway)
            check_at_most("highway", highway, "window", window)
            if outputs != features:
                raise ValueError(
                    f"a highway needs an output for each series: {features}, got {outputs}"
                )
            self.autoregression = nn.Linear(highway, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values, (batch, outputs)."""
        rows, last = self._patterns(x)
        alpha = self._attend(rows, last)
        v_t = (alpha.unsqueeze(1) * rows).sum(2)  # (batch, filters)
        forecast: Tensor = self.output(self.W_hv(torch.cat((last, v_t), 1)))
        if self.autoregression is None:
            return forecast
        steps = x[:, self.window - self.autoregression.in_features :]
        linear: Tensor = self.autoregression(steps.transpose(1, 2))  # (batch, features, 1)
        return forecast + linear.squeeze(2)

    def attention_weights(self, x: Tensor) -> dict[str, Tensor]:
        """Return ``"temporal"``, alpha: (batch, rows of H^C), each in (0, 1).

        Each comes from a sigmoid, so they do not sum to one: the paper lets more than
        one row count fully.
        """
        return {"temporal": self._attend(*self._patterns(x))}

    def _patterns(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return H^C, (batch, filters, rows), and h_t, (batch, hidden)."""
        check_input(x, "batch, window, features", (self.window, self.features), self.W_a.weight)
        embedded = torch.relu(self.embedding(x))  # (batch, window, hidden)
        states, _ = self.lstm(embedded)  # (batch, window, hidden)
        past, last = states[:, :-1], states[:, -1]  # H and h_t
        return self.patterns(past.unsqueeze(1)).squeeze(2), last

    def _attend(self, rows: Tensor, last: Tensor) -> Tensor:
        query = self.W_a(last).unsqueeze(2)  # (batch, filters, 1)
        scores = (rows * query).sum(1)  # f(H^C_i, h_t) = H^C_i . (W_a h_t)
        return torch.sigmoid(scores)  # (batch, rows)
