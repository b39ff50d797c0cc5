"""TimesFM: a decoder over patches of a series, which reads its own forecasts."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention, silu, softplus

from torchspeed.models.checks import check_divides, check_input
from torchspeed.models.positions import sinusoids
from torchspeed.models.registry import register_model
from torchspeed.models.residual_block import ResidualBlock
from torchspeed.models.rms_norm import RMSNorm

LOG2_E = 1.442695041
"""Factor of the learned scale of queries, 1 / softplus(0): a scale of 0 changes nothing."""

KeysAndValues = tuple[Tensor, Tensor]
"""Those of the patches that a layer has read, (batch, heads, patches, size) each."""


class Layer(nn.Module):
    """Attention to this patch and those before it, then a network; a norm before each."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = RMSNorm(width)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)
        self.scale = nn.Parameter(torch.zeros(width // heads))
        self.feed_forward_norm = nn.LayerNorm(width, eps=1e-6)
        self.inner = nn.Linear(width, inner)
        self.outer = nn.Linear(inner, width)

    def forward(
        self, x: Tensor, mask: Tensor, past: KeysAndValues | None
    ) -> tuple[Tensor, KeysAndValues]:
        """Map (batch, patches, width) to the same shape; return all keys and values too."""
        normed = self.attention_norm(x)
        query, key, value = (
            part(normed).unflatten(2, (self.heads, -1)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )  # (batch, heads, patches, size) each
        if past is not None:
            key, value = torch.cat((past[0], key), 2), torch.cat((past[1], value), 2)
        query = query * softplus(self.scale) * LOG2_E
        mixed = scaled_dot_product_attention(query, key, value, mask)
        x = x + self.output(mixed.transpose(1, 2).flatten(2))
        inner = torch.relu(self.inner(self.feed_forward_norm(x)))
        return x + self.outer(inner), (key, value)


class State(NamedTuple):
    """What a model has read of a series."""

    token: Tensor
    """Of the last patch, (batch, width)."""
    cache: list[KeysAndValues]
    mean: Tensor
    deviation: Tensor


@register_model("timesfm")
class TimesFM(nn.Module):
    """Pretrained forecaster of one series, with the sizes of the paper's smallest model.

    A. Das et al., "A decoder-only foundation model for time-series forecasting", ICML 2024,
    arXiv:2310.10688, section 4: a residual block makes a token of each patch, positions are added
    (eq. 1), causal layers mix them (eq. 2), and a residual block maps each token to the steps
    after its patch (eq. 3). The forecast is read as further patches, with the keys and values of
    earlier ones kept. As in the authors' code, a window is normalised by its first patch, queries
    have a learned scale for each of their numbers, and each step has a mean and quantiles.

    Values are never missing here, so the patches' masks are left out, which would add a bias, and
    so is the embedding of a frequency. There is no dropout.

    Maps (batch, window) to (batch, horizon, 1 + quantiles), the mean first. 17,647,424 parameters.

    Args:
        horizon: time steps that a patch forecasts; the patch divides it.
        patch: steps of a patch; it divides the window.
        longest: most steps of window and forecasts together.
    """

    positions: Tensor

    def __init__(
        self,
        *,
        window: int = 512,
        horizon: int = 128,
        patch: int = 32,
        quantiles: int = 9,
        width: int = 512,
        heads: int = 16,
        layers: int = 10,
        inner: int = 512,
        longest: int = 2048,
    ) -> None:
        super().__init__()
        check_divides("patch", patch, "window", window)
        check_divides("patch", patch, "horizon", horizon)
        check_divides("heads", heads, "width", width)
        self.window = window
        self.horizon = horizon
        self.patch = patch
        self.embedding = ResidualBlock(patch, inner, width, silu)
        self.layers = nn.ModuleList(Layer(width, heads, inner) for _ in range(layers))
        self.output = ResidualBlock(width, inner, horizon * (1 + quantiles), silu)
        positions = sinusoids(longest // patch, width)
        self.register_buffer("positions", positions, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values, (batch, horizon, 1 + quantiles)."""
        return self._forecast(self.prefill(x))

    def prefill(self, x: Tensor) -> State:
        """Read a window, (batch, window)."""
        check_input(x, "batch, window", (self.window,), self.positions)
        first = x[:, : self.patch]
        mean = first.mean(1, keepdim=True)
        deviation = (first - mean).square().mean(1, keepdim=True).sqrt().clamp(min=1e-6)
        nothing: list[KeysAndValues | None] = [None] * len(self.layers)
        return self._read(x, nothing, 0, mean, deviation)

    def next_step(self, state: State) -> tuple[Tensor, State]:
        """Return the forecast, (batch, horizon, 1 + quantiles), and the state after its mean."""
        forecast = self._forecast(state)
        read = state.cache[0][0].shape[2]
        cache: list[KeysAndValues | None] = [*state.cache]
        return forecast, self._read(forecast[:, :, 0], cache, read, state.mean, state.deviation)

    def _read(
        self,
        x: Tensor,
        cache: list[KeysAndValues | None],
        read: int,
        mean: Tensor,
        deviation: Tensor,
    ) -> State:
        """Read steps, (batch, steps), after so many patches."""
        patches = ((x - mean) / deviation).unflatten(1, (-1, self.patch))
        count = patches.shape[1]
        tokens = self.embedding(patches) + self.positions[read : read + count]  # eq. 1
        mask = torch.ones(count, read + count, dtype=torch.bool, device=x.device).tril(read)
        kept = []
        for layer, past in zip(self.layers, cache, strict=True):
            tokens, keys_and_values = layer(tokens, mask, past)  # eq. 2
            kept.append(keys_and_values)
        return State(tokens[:, -1], kept, mean, deviation)

    def _forecast(self, state: State) -> Tensor:
        forecast: Tensor = self.output(state.token)  # eq. 3
        forecast = forecast * state.deviation + state.mean
        return forecast.unflatten(1, (self.horizon, -1))  # type: ignore[no-any-return]
