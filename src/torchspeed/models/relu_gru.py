"""GRU whose candidate state passes through relu, with one bias a gate."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class ReluGRU(nn.Module):
    """Gated recurrent unit of LSTNet (arXiv:1703.07015, section 3.3), from a zero state.

    r = sigmoid(W_xr x + W_hr h + b_r), u = sigmoid(W_xu x + W_hu h + b_u),
    c = relu(W_xc x + r * (W_hc h) + b_c), h' = (1 - u) * h + u * c.

    ``torch.nn.GRU`` has tanh for relu, keeps where this one renews (z = 1 - u), and
    adds a second bias a gate. The gates lie in the order r, u, c.
    """

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(hidden)  # as torch.nn.GRU starts
        self.weight_ih = nn.Parameter(torch.empty(3 * hidden, features).uniform_(-bound, bound))
        self.weight_hh = nn.Parameter(torch.empty(3 * hidden, hidden).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(3 * hidden).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        """Return the last state, (hidden, batch), of the steps (features, steps, batch).

        The batch comes last, so that each gate is one contiguous block.
        """
        features, steps, batch = x.shape
        hidden = self.weight_hh.shape[1]
        # Of all steps in one product.
        from_input = torch.addmm(self.bias.unsqueeze(1), self.weight_ih, x.reshape(features, -1))
        sizes = [2 * hidden, hidden]
        gates_x, candidate_x = from_input.view(-1, steps, batch).split_with_sizes(sizes)
        gates, candidates = gates_x.unbind(1), candidate_x.unbind(1)
        state = x.new_zeros(hidden, batch)
        if steps > 1:  # the loop takes a single step, for the gradient of all weights
            # From a zero state there is nothing to reset, and nothing to keep.
            state = gates[0][hidden:].sigmoid() * candidates[0].relu()
            gates, candidates = gates[1:], candidates[1:]
        for gate_x, cand_x in zip(gates, candidates, strict=True):
            gate_h, cand_h = torch.mm(self.weight_hh, state).split_with_sizes(sizes)
            reset, update = (gate_x + gate_h).sigmoid().chunk(2)
            candidate = torch.addcmul(cand_x, reset, cand_h).relu()
            state = torch.lerp(state, candidate, update)
        return state
