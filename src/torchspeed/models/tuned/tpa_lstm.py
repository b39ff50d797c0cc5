"""TPA-LSTM that computes attention without building the filters' output H^C."""

from typing import Any, cast

import torch
from torch import Tensor, nn

from torchspeed.models import tpa_lstm
from torchspeed.models.checks import check_input
from torchspeed.models.registry import register_model


class TracedLSTM(nn.Module):
    """Replaces a ``torch.nn.LSTM``, which ``torch.compile`` does not trace; same parameters."""

    def __init__(self, lstm: nn.LSTM) -> None:
        super().__init__()
        self.hidden_size = lstm.hidden_size
        self.num_layers = lstm.num_layers
        for name, parameter in lstm.named_parameters():
            self.register_parameter(name, parameter)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the hidden states of the last layer at every step, and all at the last step.

        The axes of both are those of ``x``, (batch, steps, features).
        """
        zero = x.new_zeros(self.num_layers, x.shape[0], self.hidden_size)
        weights: list[Tensor] = list(self.parameters())
        states, last, _ = torch.lstm(
            x, (zero, zero), weights, True, self.num_layers, 0.0, self.training, False, True
        )
        return states, last


@register_model("tpa_lstm", "tuned")
class TunedTPALSTM(tpa_lstm.TPALSTM):
    """`torchspeed.models.tpa_lstm.TPALSTM` with fewer terms in its sums.

    On a Zen 5, one thread, oneDNN's LSTM takes two thirds of a forward pass, and filtering all
    states by one product 1.16 times as long as this (1.09 to 1.19). Sums in place of the batched
    products take 0.97 forward (0.91 to 1.02) and 0.86 backward (0.82 to 0.92); nobody measured
    them on an Intel.
    """

    def __init__(self, **sizes: Any) -> None:
        super().__init__(**sizes)
        self.lstm = TracedLSTM(self.lstm)  # type: ignore[assignment]

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values, (batch, outputs)."""
        past, last = self._states(x)
        filters = self.patterns.weight.flatten(1)  # (filters, time * filter_size)
        bias = cast("Tensor", self.patterns.bias)
        query = self.W_a(last)  # (batch, filters)
        # H^C = past C' + b is never built, neither in the scores f(H^C_i, h_t) = H^C_i . (W_a h_t)
        # nor in v_t: weighing its rows and then filtering is the same sum with far fewer terms.
        scores = (past @ (query @ filters).unsqueeze(2)).squeeze(2)
        alpha = torch.sigmoid(scores + (query @ bias).unsqueeze(1))
        context = (alpha.unsqueeze(1) @ past).squeeze(1) @ filters.t()
        context = torch.addcmul(context, alpha.sum(1, keepdim=True), bias)  # v_t
        forecast: Tensor = self.output(self.W_hv(torch.cat((last, context), 1)))
        if self.autoregression is None:
            return forecast
        steps = x[:, self.window - self.autoregression.in_features :]
        linear: Tensor = self.autoregression(steps.transpose(1, 2))  # (batch, features, 1)
        return forecast + linear.squeeze(2)

    def _states(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the filters see, (batch, rows, time * filter_size), and h_t."""
        check_input(x, "batch, window, features", (self.window, self.features), self.W_a.weight)
        # Flat, as the LSTM's own product takes it: torch.compile then keeps what relu returns for
        # both gradients, and not a mask as well, which it is slow to write.
        embedded = self.embedding(x.transpose(0, 1).flatten(0, 1)).relu()
        steps = embedded.view(self.window, -1, self.lstm.hidden_size)  # (window, batch, hidden)
        states, _ = self.lstm(steps.transpose(0, 1))  # (batch, window, hidden)
        # (batch, time, rows, filter_size) -> (batch, rows, time * filter_size)
        past = states[:, :-1].unfold(2, self.patterns.kernel_size[1], 1).transpose(1, 2).flatten(2)
        return past, states[:, -1]
