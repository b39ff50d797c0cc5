"""Chronos-Bolt: T5's encoder over patches of a series, and a decoder of the whole forecast."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from torchspeed.models.checks import check_divides, check_input
from torchspeed.models.registry import register_model
from torchspeed.models.residual_block import ResidualBlock
from torchspeed.models.rms_norm import RMSNorm

BUCKETS, FARTHEST = 32, 128
"""T5's distances: as many have a bias of their own, and all beyond the last share one."""


def distance_buckets(tokens: int) -> Tensor:
    """Return the bucket of each pair of query and key, (tokens, tokens).

    A quarter of the buckets are for exact distances, a quarter for logarithmic ones, and the
    other half is for keys after the query.
    """
    offset = torch.arange(tokens) - torch.arange(tokens).unsqueeze(1)
    distance, exact = offset.abs(), BUCKETS // 4
    rate = exact / math.log(FARTHEST / exact)
    far = exact + (torch.log(distance.clamp(min=1) / exact) * rate).long()
    far = far.clamp(max=2 * exact - 1)
    return torch.where(distance < exact, distance, far) + 2 * exact * (offset > 0)


class Attention(nn.Module):
    """T5's attention: no biases, and no division by the root of the heads' size."""

    def __init__(self, width: int, heads: int, size: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, heads * size, bias=False)
        self.key = nn.Linear(width, heads * size, bias=False)
        self.value = nn.Linear(width, heads * size, bias=False)
        self.output = nn.Linear(heads * size, width, bias=False)

    def keys_and_values(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return those of each head, (batch, heads, tokens, size) each."""
        return self._split(self.key(tokens)), self._split(self.value(tokens))

    def forward(
        self, tokens: Tensor, keys_and_values: tuple[Tensor, Tensor], bias: Tensor | float = 0.0
    ) -> Tensor:
        """Map (batch, tokens, width) to the same shape."""
        keys, values = keys_and_values
        scores = self._split(self.query(tokens)) @ keys.transpose(2, 3) + bias
        mixed = scores.softmax(3) @ values  # (batch, heads, tokens, size)
        return self.output(mixed.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]

    def _split(self, x: Tensor) -> Tensor:
        heads: Tensor = x.unflatten(2, (self.heads, -1))
        return heads.transpose(1, 2)


class Layer(nn.Module):
    """Attention to itself, in a decoder also to the encoder's tokens, and a network with relu."""

    def __init__(self, width: int, heads: int, size: int, inner: int, *, decodes: bool) -> None:
        super().__init__()
        self.attention_norm, self.attention = RMSNorm(width), Attention(width, heads, size)
        if decodes:
            self.cross_norm, self.cross = RMSNorm(width), Attention(width, heads, size)
        self.feed_forward_norm = RMSNorm(width)
        self.inner = nn.Linear(width, inner, bias=False)
        self.outer = nn.Linear(inner, width, bias=False)

    def forward(
        self,
        x: Tensor,
        bias: Tensor | float = 0.0,
        encoded: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        """Map (batch, tokens, width) to the same shape; a decoder gets the keys and values."""
        normed = self.attention_norm(x)
        x = x + self.attention(normed, self.attention.keys_and_values(normed), bias)
        if encoded is not None:
            x = x + self.cross(self.cross_norm(x), encoded)
        inner = torch.relu(self.inner(self.feed_forward_norm(x)))
        return x + self.outer(inner)  # type: ignore[no-any-return]


class State(NamedTuple):
    """What decoding needs of a window."""

    encoded: list[tuple[Tensor, Tensor]]
    """Keys and values of the encoder's tokens for each layer of the decoder."""
    mean: Tensor
    deviation: Tensor


@register_model("chronos_bolt")
class ChronosBolt(nn.Module):
    """Pretrained forecaster of one series, with the sizes of ``amazon/chronos-bolt-tiny``.

    A. F. Ansari et al., "Chronos: Learning the Language of Time Series", TMLR 2024,
    arXiv:2403.07815, in the variant of the authors' code that reads patches: a normalised window
    is cut into patches, whose tokens and one more are encoded by T5's encoder (C. Raffel et al.,
    JMLR 2020, arXiv:1910.10683, section 2.1: norm before each part, without biases, and a bias
    by distance that all layers share). The decoder reads a single token, and a network maps it to
    all steps and quantiles. A longer forecast begins with a new window.

    Values are never missing here, so the patches' masks are left out, which would add a bias. The
    decoder has no bias by distance, as one token has none. There is no dropout.

    Maps (batch, window) to (batch, horizon, quantiles). 8,632,064 parameters.

    Args:
        patch: steps of a patch; it divides the window.
        size: size of a head.
        layers: layers of the encoder, and of the decoder.
    """

    buckets: Tensor
    decoder: Sequence[Layer]

    def __init__(
        self,
        *,
        window: int = 512,
        horizon: int = 64,
        patch: int = 16,
        quantiles: int = 9,
        width: int = 256,
        heads: int = 4,
        size: int = 64,
        layers: int = 4,
        inner: int = 1024,
    ) -> None:
        super().__init__()
        check_divides("patch", patch, "window", window)
        self.window = window
        self.patch = patch
        self.quantiles = quantiles
        self.embedding = ResidualBlock(patch, inner, width, torch.relu)
        # The first is read by the decoder, the other by the encoder, after the patches.
        self.tokens = nn.Parameter(torch.randn(2, width))
        self.distance_bias = nn.Embedding(BUCKETS, heads)
        sizes = width, heads, size, inner
        self.encoder = nn.ModuleList(Layer(*sizes, decodes=False) for _ in range(layers))
        self.decoder = nn.ModuleList(  # type: ignore[assignment]
            Layer(*sizes, decodes=True) for _ in range(layers)
        )
        self.encoder_norm, self.decoder_norm = RMSNorm(width), RMSNorm(width)
        self.output = ResidualBlock(width, inner, horizon * quantiles, torch.relu)
        buckets = distance_buckets(window // patch + 1)
        self.register_buffer("buckets", buckets, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Predict quantiles of the next values, (batch, horizon, quantiles)."""
        return self.next_step(self.prefill(x))[0]

    def prefill(self, x: Tensor) -> State:
        """Encode a window, (batch, window)."""
        check_input(x, "batch, window", (self.window,), self.encoder_norm.weight)
        mean = x.mean(1, keepdim=True)
        deviation = (x - mean).square().mean(1, keepdim=True).sqrt() + 1e-5
        patches = ((x - mean) / deviation).unflatten(1, (-1, self.patch))
        last = self.tokens[1].expand(x.shape[0], 1, -1)
        tokens = torch.cat((self.embedding(patches), last), 1)  # (batch, tokens, width)
        bias = self.distance_bias(self.buckets).permute(2, 0, 1)  # (heads, tokens, tokens)
        for layer in self.encoder:
            tokens = layer(tokens, bias)
        tokens = self.encoder_norm(tokens)
        encoded = [layer.cross.keys_and_values(tokens) for layer in self.decoder]
        return State(encoded, mean, deviation)

    def next_step(self, state: State) -> tuple[Tensor, State]:
        """Decode one token into the forecast, (batch, horizon, quantiles)."""
        token = self.tokens[0].expand(state.mean.shape[0], 1, -1)
        for layer, encoded in zip(self.decoder, state.encoded, strict=True):
            token = layer(token, encoded=encoded)
        forecast: Tensor = self.output(self.decoder_norm(token)).squeeze(1)
        forecast = forecast * state.deviation + state.mean
        return forecast.unflatten(1, (self.quantiles, -1)).transpose(1, 2), state
