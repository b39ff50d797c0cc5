"""TPA-LSTM as FluxArchitectures computes it, which differs from the paper."""

import torch
from torch import Tensor, nn

from torchspeed.models.checks import check_at_most, check_input
from torchspeed.models.lstm import LSTM
from torchspeed.models.registry import register_model


@register_model("tpa_lstm_flux_literal")
class TPALSTMFluxLiteral(nn.Module):
    """What sdobber/FluxArchitectures computes under the name of TPALSTM.

    It is for comparisons with published values; to forecast, use `TPALSTM`. It differs from
    the paper (arXiv:1809.04206): at every time step the LSTM runs along the *samples*,
    the first starting from the last state of the previous time step; relu acts on the
    past states and on the filters' output.

    Flux also keeps the state from call to call. Here every call starts from zero:
    the same work, and results that depend on the input alone.

    Maps (batch, window, features) to (batch, 1). Sizes as in `TPALSTM`; 2,063 parameters.
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
    ) -> None:
        super().__init__()
        if window < 2:
            raise ValueError(f"window must be at least 2, for a past to attend to, got {window}")
        check_at_most("filter_size", filter_size, "hidden", hidden)
        self.features = features
        self.window = window
        self.embedding = nn.Linear(features, hidden)
        self.lstm = LSTM(hidden, hidden, layers)
        self.convolution = nn.Conv2d(1, filters, (window - 1, filter_size))
        self.query = nn.Linear(hidden, filters)
        self.mix = nn.Linear(hidden + filters, hidden)
        self.output = nn.Linear(hidden, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Predict one value per sample, (batch, 1)."""
        check_input(x, "batch, window, features", (self.window, self.features), self.query.weight)
        # One sequence: all samples of the first step, all of the second, and so on.
        sequence = self.embedding(x.transpose(0, 1)).relu().flatten(0, 1)
        states = self.lstm(sequence.unsqueeze(1)).view(self.window, x.shape[0], -1)
        past, last = states[:-1].relu().transpose(0, 1), states[-1]
        rows = self.convolution(past.unsqueeze(1)).relu().squeeze(2)  # (batch, filters, rows)
        alpha = (rows * self.query(last).unsqueeze(2)).sum(1, keepdim=True).sigmoid()
        context = (alpha * rows).sum(2)
        return self.output(self.mix(torch.cat((last, context), 1)))  # type: ignore[no-any-return]
