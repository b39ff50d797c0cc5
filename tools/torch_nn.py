"""The nearest ready-made modules of ``torch.nn``, as baselines for the models.

The forecasting baselines have the sizes of ours and *less* to do where ``torch.nn`` has
no such part: they are for comparison, not the same function. The image
classifiers are the same function.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from torchspeed.models import DARNN, TPALSTM, DSANet, FluxCNN, LeNet5, LSTNet


class EncoderDecoder(nn.Module):
    """DA-RNN without its two attentions: an LSTM over the window, a second over its states."""

    def __init__(self, model: DARNN) -> None:
        super().__init__()
        encoder, decoder = model.U_d.in_features, model.W_d.in_features // 2
        self.encoder = nn.LSTM(model.features, encoder, batch_first=True)
        self.decoder = nn.LSTM(encoder, decoder, batch_first=True)
        self.output = nn.Linear(decoder, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, window, features) to (batch, 1)."""
        states, _ = self.decoder(self.encoder(x)[0])
        out: Tensor = self.output(states[:, -1])
        return out


class TransformerTowers(nn.Module):
    """DSANet with ``nn.TransformerEncoder`` for its layers: almost the same function."""

    def __init__(self, model: DSANet) -> None:
        super().__init__()
        self.towers = nn.ModuleList()
        tower: Any
        for tower in (model.global_tower, model.local_tower):
            convolution, layer = tower.convolution, tower.layers[0]
            kernels, d_model = tower.embed.in_features, tower.embed.out_features
            d_hidden = layer.feed_forward.inner.out_features
            encoder = nn.TransformerEncoderLayer(
                d_model, tower.heads, d_hidden, model.dropout, batch_first=True
            )
            self.towers.append(
                nn.ModuleList(
                    [
                        nn.Conv2d(1, kernels, convolution.kernel_size),
                        nn.Linear(kernels, d_model),
                        nn.TransformerEncoder(encoder, len(tower.layers)),
                        nn.Linear(d_model, kernels),
                    ]
                )
            )
        self.combine = nn.Linear(model.combine.in_features, 1)
        self.autoregression = nn.Linear(model.window, 1)
        self.head = nn.Linear(model.features, model.head.out_features)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, window, features) to (batch, outputs)."""
        of_towers = []
        tower: Any
        for tower in self.towers:
            convolution, embed, layers, unembed = tower
            patterns = convolution(x.unsqueeze(1)).relu().amax(2).transpose(1, 2)
            of_towers.append(unembed(layers(embed(patterns))))  # (batch, series, kernels)
        nonlinear = self.combine(torch.cat(of_towers, 2)).squeeze(2)
        linear = self.autoregression(x.transpose(1, 2)).squeeze(2)
        out: Tensor = self.head(nonlinear + linear)
        return out


class ConvolutionGRU(nn.Module):
    """LSTNet without its skip component and autoregression."""

    def __init__(self, model: LSTNet) -> None:
        super().__init__()
        channels = model.convolution.out_features
        kernel = model.convolution.in_features // model.features
        self.convolution = nn.Conv1d(model.features, channels, kernel)
        self.gru = nn.GRU(channels, model.gru.weight_hh.shape[1], batch_first=True)
        self.output = nn.Linear(self.gru.hidden_size, model.features)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, window, features) to (batch, features)."""
        responses = self.convolution(x.transpose(1, 2)).relu()
        states, _ = self.gru(responses.transpose(1, 2))
        out: Tensor = self.output(states[:, -1])
        return out


class LSTMAttention(nn.Module):
    """TPA-LSTM with ``nn.MultiheadAttention`` over time for the attention over patterns."""

    def __init__(self, model: TPALSTM) -> None:
        super().__init__()
        hidden = model.W_a.in_features
        self.embedding = nn.Linear(model.features, hidden)
        self.lstm = nn.LSTM(hidden, hidden, len(model.lstm.layers), batch_first=True)
        self.attention = nn.MultiheadAttention(hidden, 1, batch_first=True)
        self.mix = nn.Linear(2 * hidden, hidden)
        self.output = nn.Linear(hidden, model.output.out_features)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, window, features) to (batch, outputs)."""
        states, _ = self.lstm(self.embedding(x).relu())
        past, last = states[:, :-1], states[:, -1:]
        context, _ = self.attention(last, past, past, need_weights=False)
        out: Tensor = self.output(self.mix(torch.cat((last, context), 2).squeeze(1)))
        return out


def _with_parameters_of(model: nn.Module, copy: nn.Sequential) -> nn.Sequential:
    with torch.no_grad():
        for own, theirs in zip(copy.parameters(), model.parameters(), strict=True):
            own.copy_(theirs)
    return copy


def flux_cnn(model: FluxCNN) -> nn.Sequential:
    """Return the layers of the post in a row."""
    layers = [nn.Conv2d(3, 16, 5), nn.ReLU(), nn.MaxPool2d(2)]
    layers += [nn.Conv2d(16, 8, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()]
    layers += [nn.Linear(200, 120), nn.Linear(120, 84), nn.Linear(84, 10), nn.Softmax(1)]
    return _with_parameters_of(model, nn.Sequential(*layers))


def lenet5(model: LeNet5) -> nn.Sequential:
    """Return the layers of the source in a row."""
    layers = [nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2)]
    layers += [nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()]
    layers += [nn.Linear(256, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)]
    return _with_parameters_of(model, nn.Sequential(*layers))
