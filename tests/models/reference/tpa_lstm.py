"""TPA-LSTM, arXiv:1809.04206, sections 4.2 and 4.3."""

import torch
from torch import Tensor

from tests.models.reference.cells import lstm_step


def predict_sample(w: dict[str, Tensor], x: Tensor, layers: int, filter_size: int) -> Tensor:
    window = x.shape[0]
    size = w["lstm.layers.0.weight_hh"].shape[1]
    h = [x.new_zeros(size) for _ in range(layers)]
    s = [x.new_zeros(size) for _ in range(layers)]
    states = []
    for t in range(window):
        value = torch.clamp(w["embedding.weight"] @ x[t] + w["embedding.bias"], min=0)
        for layer in range(layers):
            parts = [w[f"lstm.layers.{layer}.{p}"] for p in ("weight_ih", "weight_hh", "bias")]
            h[layer], s[layer] = lstm_step(parts, "ifgo", value, (h[layer], s[layer]))
            value = h[layer]
        states.append(value)
    past, last = torch.stack(states[:-1], 1), states[-1]  # H is (m, window - 1)

    filters = w["patterns.weight"].view(-1, window - 1, filter_size)
    query = w["W_a.weight"] @ last + w["W_a.bias"]
    context = torch.zeros_like(query)
    for i in range(size - filter_size + 1):
        row = past[i : i + filter_size].t()
        h_c = torch.stack(
            [(c * row).sum() + b for c, b in zip(filters, w["patterns.bias"], strict=True)]
        )
        alpha = torch.sigmoid(h_c @ query)
        context = context + alpha * h_c
    w_h, w_v = w["W_hv.weight"][:, :size], w["W_hv.weight"][:, size:]
    h_prime = w_h @ last + w_v @ context + w["W_hv.bias"]
    return w["output.weight"] @ h_prime + w["output.bias"]


def predict(w: dict[str, Tensor], x: Tensor, layers: int = 1, filter_size: int = 1) -> Tensor:
    return torch.stack([predict_sample(w, sample, layers, filter_size) for sample in x])
