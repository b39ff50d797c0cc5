"""One step of an LSTM and of a GRU with relu, for one sample, a gate at a time."""

import torch
from torch import Tensor


def lstm_step(
    weights: list[Tensor], order: str, x: Tensor, state: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """``order`` names the blocks of the weights: i, f, o and g in some order."""
    (weight_ih, weight_hh, bias), (h, s) = weights, state
    size = h.shape[0]

    def block(gate: str) -> Tensor:
        rows = slice(order.index(gate) * size, (order.index(gate) + 1) * size)
        return weight_ih[rows] @ x + weight_hh[rows] @ h + bias[rows]

    i, f, o = (torch.sigmoid(block(gate)) for gate in "ifo")
    s = f * s + i * torch.tanh(block("g"))
    return o * torch.tanh(s), s


def relu_gru_step(
    weight_ih: Tensor, weight_hh: Tensor, bias: Tensor, x: Tensor, h: Tensor
) -> Tensor:
    size = h.shape[0]
    w_xr, w_xu, w_xc = weight_ih[:size], weight_ih[size : 2 * size], weight_ih[2 * size :]
    w_hr, w_hu, w_hc = weight_hh[:size], weight_hh[size : 2 * size], weight_hh[2 * size :]
    b_r, b_u, b_c = bias[:size], bias[size : 2 * size], bias[2 * size :]
    r = torch.sigmoid(w_xr @ x + w_hr @ h + b_r)
    u = torch.sigmoid(w_xu @ x + w_hu @ h + b_u)
    c = torch.clamp(w_xc @ x + r * (w_hc @ h) + b_c, min=0)
    return (1 - u) * h + u * c
