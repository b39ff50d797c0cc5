"""DSANet, CIKM 2019; its attention after arXiv:1706.03762, equations 1 and 2."""

import math

import torch
from torch import Tensor


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    mean = x.sum() / x.numel()
    variance = ((x - mean) ** 2).sum() / x.numel()
    return (x - mean) / torch.sqrt(variance + 1e-5) * weight + bias


def attention_layer(
    w: dict[str, Tensor], name: str, x: list[Tensor], heads: int
) -> tuple[list[Tensor], Tensor]:
    """Work on one sample: a vector a series. Also return the weights, heads x series x series."""
    d_model = x[0].shape[0]
    size = d_model // heads
    joint, joint_bias = (
        w[f"{name}.attention.query_key_value.weight"],
        w[f"{name}.attention.query_key_value.bias"],
    )
    query, key, value = (
        [joint[rows] @ series + joint_bias[rows] for series in x]
        for rows in (slice(part * d_model, (part + 1) * d_model) for part in range(3))
    )
    mixed: list[list[Tensor]] = [[] for _ in x]
    all_weights = []
    for head in range(heads):
        own = slice(head * size, (head + 1) * size)
        for i in range(len(x)):
            scores = [query[i][own] @ key[j][own] / math.sqrt(size) for j in range(len(x))]
            largest = max(float(score.detach()) for score in scores)
            exponentials = [torch.exp(score - largest) for score in scores]
            weights = [value / sum(exponentials) for value in exponentials]
            mixed[i].append(
                torch.stack([weights[j] * value[j][own] for j in range(len(x))]).sum(0)
            )
            all_weights.append(torch.stack(weights))
    out = []
    for series, heads_of_series in zip(x, mixed, strict=True):
        attended = w[f"{name}.attention.output.weight"] @ torch.cat(heads_of_series)
        attended = attended + w[f"{name}.attention.output.bias"]
        middle = layer_norm(
            series + attended, w[f"{name}.attention.norm.weight"], w[f"{name}.attention.norm.bias"]
        )
        inner = (
            w[f"{name}.feed_forward.inner.weight"] @ middle + w[f"{name}.feed_forward.inner.bias"]
        )
        inner = torch.clamp(inner, min=0)
        inner = (
            w[f"{name}.feed_forward.outer.weight"] @ inner + w[f"{name}.feed_forward.outer.bias"]
        )
        out.append(
            layer_norm(
                middle + inner,
                w[f"{name}.feed_forward.norm.weight"],
                w[f"{name}.feed_forward.norm.bias"],
            )
        )
    return out, torch.stack(all_weights).view(heads, len(x), len(x))


def tower(w: dict[str, Tensor], name: str, x: Tensor, layers: int, heads: int) -> list[Tensor]:
    filters, bias = w[f"{name}.convolution.weight"], w[f"{name}.convolution.bias"]
    length = filters.shape[2]
    patterns = []
    for k in range(x.shape[1]):
        responses = []
        for kernel in range(filters.shape[0]):
            along = [
                torch.clamp(filters[kernel, 0, :, 0] @ x[t : t + length, k] + bias[kernel], min=0)
                for t in range(x.shape[0] - length + 1)
            ]
            responses.append(torch.stack(along).max())
        vector = w[f"{name}.embed.weight"] @ torch.stack(responses) + w[f"{name}.embed.bias"]
        patterns.append(vector)
    for layer in range(layers):
        patterns, _ = attention_layer(w, f"{name}.layers.{layer}", patterns, heads)
    return [w[f"{name}.unembed.weight"] @ p + w[f"{name}.unembed.bias"] for p in patterns]


def predict_sample(w: dict[str, Tensor], x: Tensor, layers: int, heads: int) -> Tensor:
    from_global = tower(w, "global_tower", x, layers, heads)
    from_local = tower(w, "local_tower", x, layers, heads)
    of_series = []
    for k in range(x.shape[1]):
        both = torch.cat([from_global[k], from_local[k]])
        nonlinear = w["combine.weight"] @ both + w["combine.bias"]
        linear = w["autoregression.weight"] @ x[:, k] + w["autoregression.bias"]
        of_series.append(nonlinear + linear)
    return w["head.weight"] @ torch.cat(of_series) + w["head.bias"]


def predict(w: dict[str, Tensor], x: Tensor, layers: int = 3, heads: int = 2) -> Tensor:
    return torch.stack([predict_sample(w, sample, layers, heads) for sample in x])
