"""LSTNet, arXiv:1703.07015, sections 3.2 to 3.6."""

import torch
from torch import Tensor

from tests.models.reference.cells import relu_gru_step


def gru(w: dict[str, Tensor], name: str, sequence: list[Tensor]) -> Tensor:
    weight_ih, weight_hh, bias = (w[f"{name}.{p}"] for p in ("weight_ih", "weight_hh", "bias"))
    h = sequence[0].new_zeros(weight_hh.shape[1])
    for c in sequence:
        h = relu_gru_step(weight_ih, weight_hh, bias, c, h)
    return h


def predict_sample(w: dict[str, Tensor], x: Tensor, skip: int) -> Tensor:
    window, series = x.shape
    filters, bias = w["convolution.weight"], w["convolution.bias"]
    filters = filters.view(len(bias), -1, series)  # channel x time x series
    width = filters.shape[1]
    conv = []
    for t in range(window - width + 1):
        patch = x[t : t + width]
        responses = [(filters[k] * patch).sum() + bias[k] for k in range(filters.shape[0])]
        conv.append(torch.clamp(torch.stack(responses), min=0))

    states = [gru(w, "gru", conv)]
    # Whole periods only, counted back from the newest step.
    kept = conv[len(conv) - len(conv) // skip * skip :]
    phases = [gru(w, "skip_gru", kept[phase::skip]) for phase in range(skip)]
    # Laid out as the fast model's output layer reads them: all phases of the first
    # unit, then of the second, and so on.
    states += [phase[unit : unit + 1] for unit in range(phases[0].shape[0]) for phase in phases]
    nonlinear = w["output.weight"] @ torch.cat(states) + w["output.bias"]

    past = w["autoregression.weight"].shape[1]
    linear = [
        w["autoregression.weight"][0] @ x[window - past :, k] + w["autoregression.bias"][0]
        for k in range(series)
    ]
    return nonlinear + torch.stack(linear)


def predict(w: dict[str, Tensor], x: Tensor, skip: int = 2) -> Tensor:
    return torch.stack([predict_sample(w, sample, skip) for sample in x])
