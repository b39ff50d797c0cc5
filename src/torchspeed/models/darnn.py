"""DA-RNN: a recurrent network with attention over series, then over time."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from torchspeed.models.checks import check_input, check_sizes
from torchspeed.models.compiling import is_compiling
from torchspeed.models.lstm import LSTMWeights, lstm_state
from torchspeed.models.registry import register_model


@register_model("darnn")
class DARNN(nn.Module):
    """Dual-stage attention-based recurrent neural network.

    Y. Qin et al., "A Dual-Stage Attention-Based Recurrent Neural Network for Time
    Series Prediction", IJCAI 2017, arXiv:1704.02971. The encoder, an LSTM (eq. 3-7),
    weighs the driving series at every step (eq. 8-11); the decoder, a second LSTM
    (eq. 16, its gates 17-21), weighs the encoder's states (eq. 12-14) and reads the target's
    own past (eq. 15). Equation 22 is two linear maps with nothing between, so it is
    one here. The target is one of the input's series and known over the whole
    window, so the decoder takes one step for each of the window's.

    The paper's indices let the decoder's step t read the context of step t - 1;
    here, as in Seanny123/da-rnn and in Flux, it reads that of its own step, which
    needs no context before the first.

    FluxArchitectures' version has the same 785 parameters, but at every time step it
    runs both LSTMs along the *samples*, handing the state from one to the next without
    a reset, and a reshape mixes the attention scores of different samples.
    Seanny123/da-rnn has one linear map where equation 8 has two and a tanh (625
    parameters).

    Maps (batch, window, features) to (batch, 1), the target's next value.

    Args:
        features: series in the input, n in the paper.
        window: time steps of the input, T.
        encoder_hidden: size of the encoder's state, m.
        decoder_hidden: size of the decoder's state, p.
        target: index of the target among the features.

    Raises:
        ValueError: a size below 1, or a target that is no feature.
    """

    def __init__(
        self,
        *,
        features: int = 10,
        window: int = 10,
        encoder_hidden: int = 5,
        decoder_hidden: int = 5,
        target: int = 0,
    ) -> None:
        super().__init__()
        check_sizes(
            features=features,
            window=window,
            encoder_hidden=encoder_hidden,
            decoder_hidden=decoder_hidden,
        )
        if isinstance(target, bool) or not isinstance(target, int) or not 0 <= target < features:
            raise ValueError(
                f"target must be an index into the features, 0 to {features - 1}, got {target!r}"
            )
        self.features = features
        self.window = window
        self.target = target
        self.encoder_lstm = LSTMWeights(features, encoder_hidden)
        self.W_e = nn.Linear(2 * encoder_hidden, window)
        self.U_e = nn.Linear(window, window, bias=False)
        self.v_e = nn.Linear(window, 1)
        self.decoder_lstm = LSTMWeights(1, decoder_hidden)
        self.W_d = nn.Linear(2 * decoder_hidden, encoder_hidden)
        self.U_d = nn.Linear(encoder_hidden, encoder_hidden, bias=False)
        self.v_d = nn.Linear(encoder_hidden, 1)
        self.w_tilde = nn.Linear(1 + encoder_hidden, 1)  # of [y; c]
        self.output = nn.Linear(decoder_hidden + encoder_hidden, 1)  # of [d; c]

    def forward(self, x: Tensor) -> Tensor:
        """Predict the target's next value, (batch, 1)."""
        # The batch comes last from here on: every gate is then a contiguous block,
        # and each attention score a product with one row.
        series = self._series(x)
        hidden, _ = self._encode(series)
        state, context, _ = self._decode(hidden, series[:, self.target])
        last = torch.cat((state, context))
        return torch.addmm(self.output.bias, last.t(), self.output.weight.t())  # eq. 22

    def attention_weights(self, x: Tensor) -> dict[str, Tensor]:
        """Return the weights of both attentions; each sums to one over its last axis.

        ``"input"`` is (batch, window, features), alpha of equation 9; ``"temporal"``
        is (batch, decoder steps, encoder steps), beta of equation 13.
        """
        series = self._series(x)
        hidden, alpha = self._encode(series)
        _, _, beta = self._decode(hidden, series[:, self.target])
        return {
            "input": torch.stack(alpha).permute(2, 0, 1),
            "temporal": torch.stack(beta).permute(2, 0, 1),
        }

    def _series(self, x: Tensor) -> Tensor:
        check_input(x, "batch, window, features", (self.window, self.features), self.v_e.weight)
        return x.permute(1, 2, 0).contiguous()  # (window, features, batch)

    def _encode(self, series: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the encoder's states, (m, window, batch), and alpha at every step."""
        batch = series.shape[2]
        weight_ih, weight_hh, gate_bias = self.encoder_lstm.doubled()
        m = weight_hh.shape[1]
        # tanh(z) in equations 8 and 12 is 2 sigmoid(2z) - 1, of which a softmax does not
        # see the constant: on a CPU sigmoid takes a sixth of the time of tanh.
        # One product a step serves both the attention and the gates: W_e [h; s] on
        # top of W_hh h. The zeros stand where the gates do not read the cell state.
        from_state = torch.cat(
            (2 * self.W_e.weight, nn.functional.pad(weight_hh, (0, m)))
        )  # (window + 4m, 2m)
        bias = torch.cat((2 * self.W_e.bias.unsqueeze(1), gate_bias)).expand(-1, batch)
        # U_e x^k does not depend on the step: (window, features, batch).
        driving = (2 * self.U_e.weight @ series.flatten(1)).view_as(series)
        score = _scorer(self.v_e, self.features, batch)
        sizes = [self.window, 4 * m]

        cell = series.new_zeros(m, batch)
        state = series.new_zeros(2 * m, batch)  # [h; s]
        hidden, alphas = [], []
        for x_t in series.unbind():
            query, gates = torch.addmm(bias, from_state, state).split_with_sizes(sizes)
            energy = torch.sigmoid(driving + query.unsqueeze(1))
            alpha = score(energy).softmax(0)  # eq. 8 and 9
            gates = torch.addmm(gates, weight_ih, alpha * x_t)  # eq. 10
            h_t, cell = lstm_state(gates, cell)  # eq. 11
            state = torch.cat((h_t, cell))
            hidden.append(h_t)
            alphas.append(alpha)
        return torch.stack(hidden, 1), alphas

    def _decode(self, hidden: Tensor, y: Tensor) -> tuple[Tensor, Tensor, list[Tensor]]:
        """Return the last state (p, batch), the last context (m, batch), all betas."""
        m, steps, batch = hidden.shape
        weight_ih, weight_hh, gate_bias = self.decoder_lstm.doubled()
        p = weight_hh.shape[1]
        from_state = torch.cat(
            (2 * self.W_d.weight, nn.functional.pad(weight_hh, (0, p)))
        )  # (m + 4p, 2p)
        # y~ (eq. 15) is a single number that only the gates read: W_ih w~ is folded
        # into one map, and its share of y and of the biases computed for all steps.
        from_y, from_context = (weight_ih @ self.w_tilde.weight).split_with_sizes([1, m], 1)
        gate_bias = torch.addmm(gate_bias, weight_ih, self.w_tilde.bias.unsqueeze(1))
        known = torch.addcmul(gate_bias, from_y, y.unsqueeze(1))  # (window, 4p, batch)
        known = torch.cat(((2 * self.W_d.bias).unsqueeze(1).expand(steps, m, batch), known), 1)
        encoded = (2 * self.U_d.weight @ hidden.flatten(1)).view_as(hidden)  # U_d h_i
        score = _scorer(self.v_d, steps, batch)
        sizes = [m, 4 * p]

        cell = hidden.new_zeros(p, batch)
        state = hidden.new_zeros(2 * p, batch)  # [d; s']
        betas = []
        for known_t in known.unbind():
            query, gates = torch.addmm(known_t, from_state, state).split_with_sizes(sizes)
            energy = torch.sigmoid(encoded + query.unsqueeze(1))
            beta = score(energy).softmax(0)  # eq. 12 and 13
            context = (hidden * beta).sum(1)  # eq. 14
            gates = torch.addmm(gates, from_context, context)  # eq. 15
            d_t, cell = lstm_state(gates, cell)  # eq. 16
            state = torch.cat((d_t, cell))
            betas.append(beta)
        return d_t, context, betas


def _scorer(v: nn.Linear, positions: int, batch: int) -> Callable[[Tensor], Tensor]:
    """Return the function that scores energies: 2 v' energy + b.

    It maps (size, positions, batch) to (positions, batch).
    """
    if v.weight.device.type == "cpu" and is_compiling():
        # The compiler writes this sum into the loop that computes the energies, where a product is
        # a call of its own: measured, 1.18 times as fast forward and 1.15 times backward.
        column = v.weight.view(-1, 1, 1)
        return lambda energy: 2 * (column * energy).sum(0) + v.bias
    bias = v.bias.unsqueeze(1).expand(-1, positions * batch)
    return lambda energy: torch.addmm(bias, v.weight, energy.flatten(1), alpha=2).view(
        positions, batch
    )
