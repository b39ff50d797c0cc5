"""DA-RNN with what no step changes computed once, so that a step launches fewer kernels."""

from __future__ import annotations

import torch
from torch import Tensor

from torchspeed.models import darnn
from torchspeed.models.registry import register_model


@register_model("darnn", "fused")
class FusedDARNN(darnn.DARNN):
    """`torchspeed.models.darnn.DARNN` with its recurrences in torch's LSTM cell.

    On a GPU the cell computes gates and states in one kernel, for which the tuned model launches
    six. What depends on no state is computed before the loops, as there.
    """

    def _encode(self, x: Tensor) -> tuple[Tensor, list[Tensor]]:
        driving = self.U_e(x.transpose(1, 2))  # U_e x^k: (batch, features, window)
        h = s = x.new_zeros(len(x), self.encoder_lstm.hidden_size)  # (batch, m)
        hidden, alphas = [], []
        for x_t in x.unbind(1):  # (batch, features)
            query = self.W_e(torch.cat((h, s), 1)).unsqueeze(1)  # (batch, 1, window)
            e_t = self.v_e(torch.tanh(query + driving)).squeeze(2)  # eq. 8
            alpha = e_t.softmax(1)  # eq. 9
            h, s = self.encoder_lstm(alpha * x_t, (h, s))  # eq. 10
            hidden.append(h)
            alphas.append(alpha)
        return torch.stack(hidden, 1), alphas

    def _decode(self, hidden: Tensor, y: Tensor) -> tuple[Tensor, Tensor, list[Tensor]]:
        lstm = self.decoder_lstm
        # y~ (eq. 15) is a single number that only the gates read, so W_ih w~ is one map of [y; c].
        weight_ih = lstm.weight_ih @ self.w_tilde.weight  # (4p, 1 + m)
        bias_ih = torch.addmv(lstm.bias_ih, lstm.weight_ih, self.w_tilde.bias)
        encoded = self.U_d(hidden)  # U_d h_i: (batch, window, m)
        d = s = hidden.new_zeros(len(hidden), lstm.hidden_size)  # (batch, p)
        betas = []
        for y_t in y.split(1, 1):  # (batch, 1)
            query = self.W_d(torch.cat((d, s), 1)).unsqueeze(1)  # (batch, 1, m)
            l_t = self.v_d(torch.tanh(query + encoded)).squeeze(2)  # eq. 12
            beta = l_t.softmax(1)  # eq. 13
            context = torch.bmm(beta.unsqueeze(1), hidden).squeeze(1)  # eq. 14
            read = torch.cat((y_t, context), 1)
            d, s = torch.lstm_cell(  # eq. 15 and 16
                read, (d, s), weight_ih, lstm.weight_hh, bias_ih, lstm.bias_hh
            )
            betas.append(beta)
        return d, context, betas
