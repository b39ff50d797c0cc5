"""TPA-LSTM with an LSTM that ``torch.compile`` traces."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from torchspeed.models.fused.tpa_lstm import FusedTPALSTM
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

        Args:
            x: (batch, steps, features), as what is returned.
        """
        zero = x.new_zeros(self.num_layers, len(x), self.hidden_size)
        weights: list[Tensor] = list(self.parameters())
        states, last, _ = torch.lstm(
            x, (zero, zero), weights, True, self.num_layers, 0.0, self.training, False, True
        )
        return states, last


@register_model("tpa_lstm", "tuned")
class TunedTPALSTM(FusedTPALSTM):
    """`torchspeed.models.tpa_lstm.TPALSTM` with fewer terms in its sums, for the compiler too."""

    def __init__(self, **sizes: Any) -> None:
        super().__init__(**sizes)
        self.lstm = TracedLSTM(self.lstm)  # type: ignore[assignment]
