"""DA-RNN, arXiv:1704.02971, equations 8 to 22."""

import torch
from torch import Tensor

from tests.models.reference.cells import lstm_step


def softmax(scores: list[Tensor]) -> list[Tensor]:
    exponentials = [torch.exp(score) for score in scores]
    return [value / sum(exponentials) for value in exponentials]


def predict_sample(w: dict[str, Tensor], x: Tensor, target: int) -> Tensor:
    steps, series = x.shape
    m = w["encoder_lstm.weight_hh"].shape[1]
    p = w["decoder_lstm.weight_hh"].shape[1]

    def lstm(name: str, value: Tensor, h: Tensor, s: Tensor) -> tuple[Tensor, Tensor]:
        weights = [w[f"{name}.{part}"] for part in ("weight_ih", "weight_hh", "bias")]
        return lstm_step(weights, "ifog", value, (h, s))

    h, s = x.new_zeros(m), x.new_zeros(m)
    encoded = []
    for t in range(steps):
        scores = []
        for k in range(series):
            inner = w["W_e.weight"] @ torch.cat([h, s]) + w["W_e.bias"]
            inner = inner + w["U_e.weight"] @ x[:, k]
            scores.append(w["v_e.weight"][0] @ torch.tanh(inner) + w["v_e.bias"][0])  # 8
        alpha = softmax(scores)  # 9
        weighed = torch.stack([alpha[k] * x[t, k] for k in range(series)])  # 10
        h, s = lstm("encoder_lstm", weighed, h, s)  # 11
        encoded.append(h)

    d, s = x.new_zeros(p), x.new_zeros(p)
    for t in range(steps):
        scores = []
        for i in range(steps):
            inner = w["W_d.weight"] @ torch.cat([d, s]) + w["W_d.bias"]
            inner = inner + w["U_d.weight"] @ encoded[i]
            scores.append(w["v_d.weight"][0] @ torch.tanh(inner) + w["v_d.bias"][0])  # 12
        beta = softmax(scores)  # 13
        context = torch.stack([beta[i] * encoded[i] for i in range(steps)]).sum(0)  # 14
        known = torch.cat([x[t, target : target + 1], context])
        y_tilde = w["w_tilde.weight"] @ known + w["w_tilde.bias"]  # 15
        d, s = lstm("decoder_lstm", y_tilde, d, s)  # 16
    return w["output.weight"] @ torch.cat([d, context]) + w["output.bias"]  # 22


def predict(w: dict[str, Tensor], x: Tensor, target: int = 0) -> Tensor:
    return torch.stack([predict_sample(w, sample, target) for sample in x])
