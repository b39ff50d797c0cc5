"""DA-RNN in the structure of Seanny123/da-rnn, with equation 8's two linear maps."""

from typing import Any

import torch
from torch import Tensor, nn

from torchspeed.models import DARNN


def lstm_from(weights: Any) -> nn.LSTM:
    """torch's own LSTM with the weights of ours, whose gates lie as i, f, o, g."""
    hidden, features = weights.weight_hh.shape[1], weights.weight_ih.shape[1]
    order = torch.arange(4 * hidden).view(4, hidden)[[0, 1, 3, 2]].flatten()
    lstm: Any = nn.LSTM(features, hidden)
    with torch.no_grad():
        lstm.weight_ih_l0.copy_(weights.weight_ih[order])
        lstm.weight_hh_l0.copy_(weights.weight_hh[order])
        lstm.bias_ih_l0.copy_(weights.bias[order])
        lstm.bias_hh_l0.zero_()
    copied: nn.LSTM = lstm
    return copied


def attention_from(of_state: nn.Linear, of_series: nn.Linear, score: nn.Linear) -> nn.Sequential:
    inner = nn.Linear(of_state.in_features + of_series.in_features, of_state.out_features)
    outer = nn.Linear(score.in_features, 1)
    with torch.no_grad():
        inner.weight.copy_(torch.cat([of_state.weight, of_series.weight], 1))
        inner.bias.copy_(of_state.bias)
        outer.load_state_dict(score.state_dict())
    return nn.Sequential(inner, nn.Tanh(), outer)


class NaiveDARNN(nn.Module):
    def __init__(self, model: DARNN) -> None:
        super().__init__()
        self.target = model.target
        self.encoder_lstm = lstm_from(model.encoder_lstm)
        self.encoder_attention = attention_from(model.W_e, model.U_e, model.v_e)
        self.decoder_lstm = lstm_from(model.decoder_lstm)
        self.decoder_attention = attention_from(model.W_d, model.U_d, model.v_d)
        # w~ reads [y; c] in ours, [c; y] would do as well.
        self.combine = nn.Linear(model.w_tilde.in_features, 1)
        self.combine.load_state_dict(model.w_tilde.state_dict())
        self.final = nn.Linear(model.output.in_features, 1)
        self.final.load_state_dict(model.output.state_dict())

    def forward(self, x: Tensor) -> Tensor:
        batch, window, features = x.shape
        hidden = cell = x.new_zeros(1, batch, self.encoder_lstm.hidden_size)
        encoded = []
        for t in range(window):
            joined = torch.cat(
                [
                    hidden.repeat(features, 1, 1).permute(1, 0, 2),
                    cell.repeat(features, 1, 1).permute(1, 0, 2),
                    x.permute(0, 2, 1),
                ],
                dim=2,
            )
            score = self.encoder_attention(joined.reshape(batch * features, -1))
            alpha = torch.softmax(score.view(batch, features), dim=1)
            weighed = alpha * x[:, t, :]
            _, (hidden, cell) = self.encoder_lstm(weighed.unsqueeze(0), (hidden, cell))
            encoded.append(hidden[0])
        memory = torch.stack(encoded, dim=1)

        hidden = cell = x.new_zeros(1, batch, self.decoder_lstm.hidden_size)
        for t in range(window):
            joined = torch.cat(
                [
                    hidden.repeat(window, 1, 1).permute(1, 0, 2),
                    cell.repeat(window, 1, 1).permute(1, 0, 2),
                    memory,
                ],
                dim=2,
            )
            score = self.decoder_attention(joined.reshape(batch * window, -1))
            beta = torch.softmax(score.view(batch, window), dim=1)
            context = torch.bmm(beta.unsqueeze(1), memory)[:, 0, :]
            known = torch.cat([x[:, t, self.target].unsqueeze(1), context], dim=1)
            _, (hidden, cell) = self.decoder_lstm(self.combine(known).unsqueeze(0), (hidden, cell))
        out: Tensor = self.final(torch.cat([hidden[0], context], dim=1))
        return out
