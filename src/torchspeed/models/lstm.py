"""LSTM with one bias per gate, as Flux has it.

``torch.nn.LSTM`` has two biases per gate, which appear only as their sum: the second adds
4 x hidden parameters and changes no function. Here there is one.
"""

import math
from collections.abc import Iterable
from typing import cast

import torch
from torch import Tensor, nn


class LSTMWeights(nn.Module):
    """The weights of one LSTM layer, which a model uses in its own way.

    Attributes:
        weight_ih: (4 x hidden, features), from the input to the gates.
        weight_hh: (4 x hidden, hidden), from the last hidden state to the gates.
        bias: (4 x hidden).
        no_bias: (4 x hidden), zeros: torch's LSTM takes two biases or none.
    """

    no_bias: Tensor

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(hidden)  # as torch.nn.LSTM starts
        self.weight_ih = nn.Parameter(torch.empty(4 * hidden, features).uniform_(-bound, bound))
        self.weight_hh = nn.Parameter(torch.empty(4 * hidden, hidden).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(4 * hidden).uniform_(-bound, bound))
        self.register_buffer("no_bias", torch.zeros(4 * hidden), persistent=False)


class LSTM(nn.Module):
    """Stacked LSTM over a whole sequence, from zero states.

    Gates lie in torch's order: input, forget, cell, output. Maps
    (steps, batch, features) to the hidden states of the last layer,
    (steps, batch, hidden).
    """

    def __init__(self, features: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.layers = nn.ModuleList(
            LSTMWeights(features if layer == 0 else hidden, hidden) for layer in range(layers)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Run the whole sequence in one call of torch's own kernel."""
        weights: list[Tensor] = []
        for layer in cast("Iterable[LSTMWeights]", self.layers):
            weights += [layer.weight_ih, layer.weight_hh, layer.bias, layer.no_bias]
        zero = x.new_zeros(len(self.layers), x.shape[1], self.hidden)
        states, _, _ = torch.lstm(
            x, (zero, zero), weights, True, len(self.layers), 0.0, self.training, False, False
        )
        return states
