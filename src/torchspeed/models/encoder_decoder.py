"""The transformer with encoder and decoder, as a baseline of forecasting papers."""

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, pad

from torchspeed.models.checks import check_at_most, check_divides, check_input
from torchspeed.models.positions import sinusoids
from torchspeed.models.registry import register_model

IS_CAUSAL = {} if torch.__version__.startswith("2.0.") else {"tgt_is_causal": True}
"""Without it, ``nn.Transformer`` looks at the mask's values, which ``torch.export`` and a CUDA
graph cannot. torch 2.0 has no such argument."""


@register_model("encoder_decoder")
class EncoderDecoder(nn.Module):
    """``torch.nn.Transformer`` that forecasts a whole horizon in one pass.

    A. Vaswani et al., "Attention Is All You Need", NeurIPS 2017, arXiv:1706.03762, section 3
    and figure 1; torch's layers hold its attention (eq. 1) and feed-forward networks (eq. 2).
    The decoder's input is that of H. Zhou et al. ("Informer", AAAI 2021,
    arXiv:2012.07436, section 3.3): the last steps of the window, then zeros for the
    horizon, all decoded at once under the causal mask. Steps are embedded by linear maps
    where the original looks words up, and gelu replaces relu, as in these baselines. Their code
    embeds by a convolution, and also embeds calendar dates.

    Maps (batch, window, features) to (batch, horizon, features). 664,583 parameters.

    Args:
        label: steps at the window's end that the decoder reads; at most the window.
        width: size of a token, d_model; the heads divide it.
        heads: attention heads, h.
        inner: size of the feed-forward network's hidden layer, d_ff.
    """

    positions: Tensor
    mask: Tensor

    def __init__(
        self,
        *,
        features: int = 7,
        window: int = 96,
        horizon: int = 96,
        label: int = 48,
        width: int = 128,
        heads: int = 8,
        encoder_layers: int = 2,
        decoder_layers: int = 1,
        inner: int = 512,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        check_at_most("label", label, "window", window)
        check_divides("heads", heads, "width", width)
        self.features = features
        self.window = window
        self.horizon = horizon
        self.label = label
        self.dropout = dropout
        decoded = label + horizon
        self.encoder_embedding = nn.Linear(features, width)
        self.decoder_embedding = nn.Linear(features, width)
        self.transformer = nn.Transformer(
            width,
            heads,
            encoder_layers,
            decoder_layers,
            inner,
            dropout,
            activation="gelu",
            batch_first=True,
        )
        self.projection = nn.Linear(width, features)
        positions = sinusoids(max(window, decoded), width)
        self.register_buffer("positions", positions, persistent=False)
        mask = nn.Transformer.generate_square_subsequent_mask(decoded)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values of every series, (batch, horizon, features)."""
        weight = self.projection.weight
        check_input(x, "batch, window, features", (self.window, self.features), weight)
        known = pad(x[:, -self.label :], (0, 0, 0, self.horizon))  # (batch, decoded, features)
        source = self._embed(self.encoder_embedding(x))  # (batch, window, width)
        target = self._embed(self.decoder_embedding(known))  # (batch, decoded, width)
        decoded = self.transformer(source, target, tgt_mask=self.mask, **IS_CAUSAL)
        return self.projection(decoded[:, -self.horizon :])  # type: ignore[no-any-return]

    def _embed(self, steps: Tensor) -> Tensor:
        tokens = steps + self.positions[: steps.shape[1]]
        return dropout(tokens, self.dropout, self.training)
