"""Each function forecasts one window, (window, features), with the parameters of a model.

A model is a dictionary of arrays by the names of its state dict, in float64.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Model = dict[str, Array]


def dlinear(p: Model, x: Array, kernel: int) -> Array:
    forecast = []
    for series in x.T:
        trend = np.empty_like(series)
        for t in range(len(series)):
            steps = range(t - (kernel - 1) // 2, t + kernel // 2 + 1)
            trend[t] = np.mean([series[min(max(s, 0), len(series) - 1)] for s in steps])
        forecast.append(linear(p, "W_s", series - trend) + linear(p, "W_t", trend))
    return np.stack(forecast, 1)


def nhits(p: Model, x: Array, horizon: int, pools: tuple[int, ...]) -> Array:
    forecasts = []
    for series in x.T:
        y, total = series, np.zeros(horizon)
        for block, pool in enumerate(pools):
            sampled = np.array([max(y[t : t + pool]) for t in range(0, len(y), pool)])
            h = np.maximum(linear(p, f"blocks.{block}.mlp.0", sampled), 0)
            h = np.maximum(linear(p, f"blocks.{block}.mlp.2", h), 0)
            theta = linear(p, f"blocks.{block}.forecast", h)
            for step in range(horizon):
                knot = min(max((step + 0.5) * len(theta) / horizon - 0.5, 0), len(theta) - 1)
                left = math.floor(knot)
                right = min(left + 1, len(theta) - 1)
                total[step] += theta[left] + (theta[right] - theta[left]) * (knot - left)
            y = y - linear(p, f"blocks.{block}.backcast", h)
        forecasts.append(total)
    return np.stack(forecasts, 1)


def tcn(p: Model, x: Array, horizon: int, levels: int) -> Array:
    states = x.T
    for level in range(levels):
        inner = states
        for name in (f"levels.{level}.first", f"levels.{level}.second"):
            v, g = p[f"{name}.v"], p[f"{name}.g"]
            inner = np.maximum(causal(inner, v, g, p[f"{name}.bias"], 2**level), 0)
        around = f"levels.{level}.around"
        if f"{around}.weight" in p:
            weight, bias = p[f"{around}.weight"][:, :, 0], p[f"{around}.bias"]
            states = weight @ states + bias[:, None]
        states = np.maximum(states + inner, 0)
    return linear(p, "output", states[:, -1]).reshape(horizon, -1)


def causal(x: Array, v: Array, g: Array, bias: Array, dilation: int) -> Array:
    outputs, inputs, kernel = v.shape
    out = np.empty((outputs, x.shape[1]))
    for o in range(outputs):
        w = g[o] * v[o] / np.sqrt((v[o] ** 2).sum())
        for t in range(x.shape[1]):
            out[o, t] = bias[o]
            for tap in range(kernel):
                step = t - (kernel - 1 - tap) * dilation
                if step >= 0:
                    out[o, t] += sum(w[i, tap] * x[i, step] for i in range(inputs))
    return out


def deepar(p: Model, x: Array, horizon: int, layers: int) -> Array:
    """The path of means."""
    return deepar_likelihood(p, x, horizon, layers)[0][-horizon:]


def deepar_likelihood(
    p: Model, x: Array, horizon: int, layers: int, future: Array | None = None
) -> tuple[Array, Array]:
    """Mean and deviation of every step from the second on, in the unit of the values.

    Steps after the window are those of ``future``, or else the means.
    """
    scale = 1 + np.abs(x).mean(0)
    hidden = p["lstm.weight_hh_l0"].shape[1]
    h, c = np.zeros((layers, hidden)), np.zeros((layers, hidden))
    z = list(x / scale) + ([] if future is None else list(future / scale))
    means, deviations = [], []
    for t in range(len(x) + horizon - 1):
        above = z[t]
        for layer in range(layers):
            gates = (
                p[f"lstm.weight_ih_l{layer}"] @ above
                + p[f"lstm.bias_ih_l{layer}"]
                + p[f"lstm.weight_hh_l{layer}"] @ h[layer]
                + p[f"lstm.bias_hh_l{layer}"]
            )
            i, f, g, o = np.split(gates, 4)
            c[layer] = sigmoid(f) * c[layer] + sigmoid(i) * np.tanh(g)
            h[layer] = above = sigmoid(o) * np.tanh(c[layer])
        means.append(linear(p, "mean", above))
        deviations.append(np.log1p(np.exp(linear(p, "deviation", above))))
        if t + 1 == len(z):
            z.append(means[-1])
    return np.stack(means) * scale, np.stack(deviations) * scale


def patchtst(p: Model, x: Array, patch: int, stride: int, layers: int, heads: int) -> Array:
    normalised, undo = instance_norm(p, x)
    forecasts = []
    for series in normalised.T:
        longer = np.concatenate((series, [series[-1]] * stride))
        starts = range(0, len(longer) - patch + 1, stride)
        tokens = np.stack([linear(p, "W_p", longer[start : start + patch]) for start in starts])
        tokens = tokens + p["W_pos"]
        for name in (f"layers.{layer}" for layer in range(layers)):
            tokens = tokens + self_attention(p, f"{name}.attention", tokens, heads)
            tokens = batch_norm(p, f"{name}.attention_norm", tokens)
            inner = gelu(linear(p, f"{name}.inner", tokens))
            tokens = tokens + linear(p, f"{name}.outer", inner)
            tokens = batch_norm(p, f"{name}.feed_forward_norm", tokens)
        forecasts.append(linear(p, "output", tokens.ravel()))
    return undo(np.stack(forecasts, 1))


def itransformer(p: Model, x: Array, layers: int, heads: int) -> Array:
    normalised, undo = instance_norm(p, x)
    h = np.stack([linear(p, "embedding", series) for series in normalised.T])
    for name in (f"layers.{layer}" for layer in range(layers)):
        h = layer_norm(
            p, f"{name}.attention_norm", h + self_attention(p, f"{name}.attention", h, heads)
        )
        inner = linear(p, f"{name}.outer", gelu(linear(p, f"{name}.inner", h)))
        h = layer_norm(p, f"{name}.feed_forward_norm", h + inner)
    h = layer_norm(p, f"layers.{layers}", h)
    return undo(linear(p, "projection", h).T)


def tsmixer(p: Model, x: Array, blocks: int) -> Array:
    mixed, undo = instance_norm(p, x)
    for name in (f"blocks.{block}" for block in range(blocks)):
        normed = batch_norm(p, f"{name}.time_norm", mixed.ravel()).reshape(mixed.shape)
        mixed = mixed + np.maximum(linear(p, f"{name}.time", normed.T), 0).T
        normed = batch_norm(p, f"{name}.feature_norm", mixed.ravel()).reshape(mixed.shape)
        inner = np.maximum(linear(p, f"{name}.inner", normed), 0)
        mixed = mixed + linear(p, f"{name}.outer", inner)
    return undo(linear(p, "projection", mixed.T).T)


def timesnet(p: Model, x: Array, horizon: int, layers: int, periods: int, kernels: int) -> Array:
    normalised, undo = instance_norm(p, x)
    window = len(x)
    weight = p["embedding.weight"]  # (width, features, 3)
    embedded = sum(
        normalised[(np.arange(window) + tap - 1) % window] @ weight[:, :, tap].T
        for tap in range(3)
    )
    embedded = embedded + positions(window, weight.shape[0])
    states = linear(p, "extend", embedded.T).T  # (steps, width)
    steps = len(states)
    for block in range(layers):
        waves = np.exp(-2j * np.pi * np.outer(range(steps // 2 + 1), range(steps)) / steps)
        amplitudes = np.abs(waves @ states).mean(1)
        frequencies = 1 + np.argsort(-amplitudes[1:])[:periods]
        weights = softmax(amplitudes[frequencies])
        mixed = np.zeros_like(states)
        for share, frequency in zip(weights, frequencies, strict=True):
            period = math.ceil(steps / frequency)
            image = np.zeros((states.shape[1], period, frequency))
            for t in range(steps):
                image[:, t % period, t // period] = states[t]
            inner = gelu(inception(p, f"blocks.{block}.first", image, kernels))
            image = inception(p, f"blocks.{block}.second", inner, kernels)
            for t in range(steps):
                mixed[t] += share * image[:, t % period, t // period]
        states = layer_norm(p, "block_norm", states + mixed)
    return undo(linear(p, "projection", states[-horizon:]))


def inception(p: Model, name: str, image: Array, kernels: int) -> Array:
    total: Any = 0
    for reach in range(kernels):
        weight = p[f"{name}.convolutions.{reach}.weight"]
        bias = p[f"{name}.convolutions.{reach}.bias"]
        padded = np.pad(image, ((0, 0), (reach, reach), (reach, reach)))
        out = np.zeros((len(weight), *image.shape[1:])) + bias[:, None, None]
        for row in range(2 * reach + 1):
            for column in range(2 * reach + 1):
                part = padded[:, row:, column:][:, : image.shape[1], : image.shape[2]]
                out += np.einsum("oi,ihw->ohw", weight[:, :, row, column], part)
        total = total + out / kernels
    return np.asarray(total)


def encoder_decoder(
    p: Model, x: Array, horizon: int, label: int, layers: tuple[int, int], heads: int
) -> Array:
    known = np.concatenate((x[-label:], np.zeros((horizon, x.shape[1]))))
    memory, target = (
        linear(p, f"{name}_embedding", steps)
        + positions(len(steps), len(p["projection.weight"].T))
        for name, steps in (("encoder", x), ("decoder", known))
    )
    for name in (f"transformer.encoder.layers.{layer}" for layer in range(layers[0])):
        memory = layer_norm(
            p, f"{name}.norm1", memory + attend(p, f"{name}.self_attn", memory, memory, heads)
        )
        memory = layer_norm(p, f"{name}.norm2", memory + feed_forward(p, name, memory))
    memory = layer_norm(p, "transformer.encoder.norm", memory)
    for name in (f"transformer.decoder.layers.{layer}" for layer in range(layers[1])):
        mixed = attend(p, f"{name}.self_attn", target, target, heads, causal_only=True)
        target = layer_norm(p, f"{name}.norm1", target + mixed)
        mixed = attend(p, f"{name}.multihead_attn", target, memory, heads)
        target = layer_norm(p, f"{name}.norm2", target + mixed)
        target = layer_norm(p, f"{name}.norm3", target + feed_forward(p, name, target))
    target = layer_norm(p, "transformer.decoder.norm", target)
    return linear(p, "projection", target[-horizon:])


def feed_forward(p: Model, name: str, x: Array) -> Array:
    return linear(p, f"{name}.linear2", gelu(linear(p, f"{name}.linear1", x)))


def attend(
    p: Model, name: str, x: Array, memory: Array, heads: int, *, causal_only: bool = False
) -> Array:
    """Attention with torch's packed weights."""
    weights, biases = (
        np.split(p[f"{name}.in_proj_weight"], 3),
        np.split(p[f"{name}.in_proj_bias"], 3),
    )
    query, key, value = (
        tokens @ weight.T + bias
        for tokens, weight, bias in zip((x, memory, memory), weights, biases, strict=True)
    )
    return linear(p, f"{name}.out_proj", weigh(query, key, value, heads, causal_only))


def self_attention(p: Model, name: str, x: Array, heads: int) -> Array:
    query, key, value = (linear(p, f"{name}.{part}", x) for part in ("query", "key", "value"))
    return linear(p, f"{name}.output", weigh(query, key, value, heads, causal_only=False))


def weigh(query: Array, key: Array, value: Array, heads: int, causal_only: bool) -> Array:
    size = query.shape[1] // heads
    mixed = np.empty((len(query), value.shape[1]))
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        for token in range(len(query)):
            seen = token + 1 if causal_only else len(key)
            scores = softmax(key[:seen, part] @ query[token, part] / math.sqrt(size))
            mixed[token, part] = scores @ value[:seen, part]
    return mixed


def instance_norm(p: Model, x: Array) -> tuple[Array, Callable[[Array], Array]]:
    mean, deviation = x.mean(0), np.sqrt(x.var(0) + 1e-5)
    gamma, beta = p.get("norm.gamma", np.ones(1)), p.get("norm.beta", np.zeros(1))
    normalised = (x - mean) / deviation * gamma + beta
    return normalised, lambda forecast: (forecast - beta) / gamma * deviation + mean


def batch_norm(p: Model, name: str, x: Array) -> Array:
    mean, variance = p[f"{name}.running_mean"], p[f"{name}.running_var"]
    return scaled(p, name, (x - mean) / np.sqrt(variance + 1e-5))


def layer_norm(p: Model, name: str, x: Array) -> Array:
    mean, variance = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    return scaled(p, name, (x - mean) / np.sqrt(variance + 1e-5))


def scaled(p: Model, name: str, x: Array) -> Array:
    return np.asarray(x * p[f"{name}.weight"] + p[f"{name}.bias"])


def positions(steps: int, width: int) -> Array:
    rows = []
    for step in range(steps):
        angles = [step / 10_000 ** (2 * (column // 2) / width) for column in range(width)]
        rows.append([(math.sin, math.cos)[c % 2](angle) for c, angle in enumerate(angles)])
    return np.array(rows)


def linear(p: Model, name: str, x: Array) -> Array:
    return np.asarray(x @ p[f"{name}.weight"].T + p[f"{name}.bias"])


def gelu(x: Array) -> Array:
    return np.asarray(np.vectorize(lambda v: v * (1 + math.erf(v / math.sqrt(2))) / 2)(x))


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max())
    return np.asarray(powers / powers.sum())


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))
