"""Each function forecasts one window, (window, features), with the parameters of a model.

A model is a dictionary of arrays by the names of its state dict, in float64.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.special import expit, ndtr, softmax

Array = NDArray[np.float64]
Model = dict[str, Array]


def dlinear(p: Model, x: Array, kernel: int) -> Array:
    longer = np.pad(x, (((kernel - 1) // 2, kernel // 2), (0, 0)), "edge")
    trend = sliding_window_view(longer, kernel, axis=0).mean(2)
    return (linear(p, "W_s", (x - trend).T) + linear(p, "W_t", trend.T)).T


def nhits(p: Model, x: Array, horizon: int, pools: tuple[int, ...]) -> Array:
    forecasts = []
    for series in x.T:
        y, total = series, np.zeros(horizon)
        for block, pool in enumerate(pools):
            sampled = np.array([max(y[t : t + pool]) for t in range(0, len(y), pool)])
            h = np.maximum(linear(p, f"blocks.{block}.mlp.0", sampled), 0)
            h = np.maximum(linear(p, f"blocks.{block}.mlp.2", h), 0)
            theta = linear(p, f"blocks.{block}.forecast", h)
            # Knots lie at the centres of equal parts of the horizon.
            total += np.interp(centres(horizon), centres(len(theta)), theta)
            y = y - linear(p, f"blocks.{block}.backcast", h)
        forecasts.append(total)
    return np.stack(forecasts, 1)


def centres(parts: int) -> Array:
    return (np.arange(parts) + 0.5) / parts


def tcn(p: Model, x: Array, horizon: int, levels: int) -> Array:
    states = x.T
    for level in range(levels):
        inner = states
        for name in (f"levels.{level}.first", f"levels.{level}.second"):
            inner = np.maximum(causal(p, name, inner, 2**level), 0)
        around = f"levels.{level}.around"
        if f"{around}.weight" in p:
            weight, bias = p[f"{around}.weight"][:, :, 0], p[f"{around}.bias"]
            states = weight @ states + bias[:, None]
        states = np.maximum(states + inner, 0)
    return linear(p, "output", states[:, -1]).reshape(horizon, -1)


def causal(p: Model, name: str, x: Array, dilation: int) -> Array:
    v, steps = p[f"{name}.v"], x.shape[1]
    w = p[f"{name}.g"] * v / np.sqrt((v**2).sum((1, 2), keepdims=True))
    kernel = v.shape[2]
    earlier = np.pad(x, ((0, 0), ((kernel - 1) * dilation, 0)))
    out = np.zeros((len(v), steps)) + p[f"{name}.bias"][:, None]
    for tap in range(kernel):
        out += w[:, :, tap] @ earlier[:, tap * dilation :][:, :steps]
    return out


def deepar(p: Model, x: Array, horizon: int, layers: int) -> Array:
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
            c[layer] = expit(f) * c[layer] + expit(i) * np.tanh(g)
            h[layer] = above = expit(o) * np.tanh(c[layer])
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
        mixed = np.zeros_like(states)
        for share, frequency in zip(softmax(amplitudes[frequencies]), frequencies, strict=True):
            period = math.ceil(steps / frequency)
            whole = np.pad(states, ((0, period * frequency - steps), (0, 0)))
            image = whole.T.reshape(-1, frequency, period).swapaxes(1, 2)
            inner = gelu(inception(p, f"blocks.{block}.first", image, kernels))
            image = inception(p, f"blocks.{block}.second", inner, kernels)
            mixed += share * image.swapaxes(1, 2).reshape(len(image), -1).T[:steps]
        states = layer_norm(p, "block_norm", states + mixed)
    return undo(linear(p, "projection", states[-horizon:]))


def inception(p: Model, name: str, image: Array, kernels: int) -> Array:
    sizes = range(1, 2 * kernels, 2)
    parts = [convolve(p, f"{name}.convolutions.{size // 2}", image, size) for size in sizes]
    return np.asarray(np.mean(parts, 0))


def convolve(p: Model, name: str, image: Array, size: int) -> Array:
    around = size // 2
    padded = np.pad(image, ((0, 0), (around, around), (around, around)))
    squares = sliding_window_view(padded, (size, size), axis=(1, 2))
    out = np.einsum("oirc,ihwrc->ohw", p[f"{name}.weight"], squares)
    return np.asarray(out + p[f"{name}.bias"][:, None, None])


def encoder_decoder(
    p: Model, x: Array, horizon: int, label: int, layers: tuple[int, int], heads: int
) -> Array:
    known = np.concatenate((x[-label:], np.zeros((horizon, x.shape[1]))))
    memory, target = (
        linear(p, f"{name}_embedding", steps)
        + positions(len(steps), len(p["projection.weight"].T))
        for name, steps in (("encoder", x), ("decoder", known))
    )
    memory = encode(p, "transformer.encoder", memory, layers[0], heads)
    memory = layer_norm(p, "transformer.encoder.norm", memory)
    for name in (f"transformer.decoder.layers.{layer}" for layer in range(layers[1])):
        mixed = attend(p, f"{name}.self_attn", target, target, heads, causal_only=True)
        target = layer_norm(p, f"{name}.norm1", target + mixed)
        mixed = attend(p, f"{name}.multihead_attn", target, memory, heads)
        target = layer_norm(p, f"{name}.norm2", target + mixed)
        target = layer_norm(p, f"{name}.norm3", target + feed_forward(p, name, target))
    target = layer_norm(p, "transformer.decoder.norm", target)
    return linear(p, "projection", target[-horizon:])


def encode(p: Model, encoder: str, x: Array, layers: int, heads: int) -> Array:
    for name in (f"{encoder}.layers.{layer}" for layer in range(layers)):
        mixed = attend(p, f"{name}.self_attn", x, x, heads)
        x = layer_norm(p, f"{name}.norm1", x + mixed)
        x = layer_norm(p, f"{name}.norm2", x + feed_forward(p, name, x))
    return x


def feed_forward(p: Model, name: str, x: Array) -> Array:
    return linear(p, f"{name}.linear2", gelu(linear(p, f"{name}.linear1", x)))


def attend(
    p: Model, name: str, x: Array, memory: Array, heads: int, *, causal_only: bool = False
) -> Array:
    """Attention with torch's packed weights."""
    weights = np.split(p[f"{name}.in_proj_weight"], 3)
    biases = np.split(p[f"{name}.in_proj_bias"], 3)
    query, key, value = (
        tokens @ weight.T + bias
        for tokens, weight, bias in zip((x, memory, memory), weights, biases, strict=True)
    )
    return linear(p, f"{name}.out_proj", weigh(query, key, value, heads, causal_only))


def self_attention(p: Model, name: str, x: Array, heads: int) -> Array:
    query, key, value = (linear(p, f"{name}.{part}", x) for part in ("query", "key", "value"))
    return linear(p, f"{name}.output", weigh(query, key, value, heads, causal_only=False))


def weigh(query: Array, key: Array, value: Array, heads: int, causal_only: bool) -> Array:
    mixed = []
    for q, k, v in zip(*(np.split(part, heads, 1) for part in (query, key, value)), strict=True):
        scores = q @ k.T / math.sqrt(q.shape[1])
        if causal_only:
            scores[np.triu_indices_from(scores, 1)] = -np.inf
        mixed.append(softmax(scores, 1) @ v)
    return np.concatenate(mixed, 1)


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
    columns = np.arange(width)
    angles = np.arange(steps)[:, None] / 10_000 ** (2 * (columns // 2) / width)
    return np.where(columns % 2, np.cos(angles), np.sin(angles))


def linear(p: Model, name: str, x: Array) -> Array:
    return np.asarray(x @ p[f"{name}.weight"].T + p[f"{name}.bias"])


def gelu(x: Array) -> Array:
    return np.asarray(x * ndtr(x))
