"""DA-RNN: a recurrent network with attention over series, then over time."""

import torch
from torch import Tensor, nn

from torchspeed.models.checks import check_input
from torchspeed.models.registry import register_model


@register_model("darnn")
class DARNN(nn.Module):
    """Dual-stage attention-based recurrent neural network.

    Y. Qin et al., "A Dual-Stage Attention-Based Recurrent Neural Network for Time
    Series Prediction", IJCAI 2017, arXiv:1704.02971. The encoder, an LSTM, weighs the
    driving series at every step (eq. 8-10); the decoder, a second LSTM (eq. 16), weighs the
    encoder's states (eq. 12-14) and reads the target's own past (eq. 15). Equation 22 is two
    linear maps with nothing between, so it is one here. The equation
    numbers are those that Seanny123/da-rnn cites. The target is one of the input's series and
    known over the whole window, so the decoder takes one step for each of the window's.

    The paper's indices let the decoder's step t read the context of step t - 1;
    here, as in Seanny123/da-rnn and in Flux, it reads that of its own step, which
    needs no context before the first.

    825 parameters, 40 of them because ``torch.nn.LSTMCell`` has a second bias per gate,
    which the paper does not have. FluxArchitectures' version has 785, but at every time step it
    runs both LSTMs along the *samples*, handing the state from one to the next without
    a reset, and a reshape mixes the attention scores of different samples.
    Seanny123/da-rnn (625 parameters) has one linear map where equation 8 has two and a tanh.

    Maps (batch, window, features) to (batch, 1), the target's next value.

    Args:
        features: series in the input, n in the paper.
        window: time steps of the input, T.
        encoder_hidden: size of the encoder's state, m.
        decoder_hidden: size of the decoder's state, p.
        target: index of the target among the features.
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
        if isinstance(target, bool) or not isinstance(target, int) or not 0 <= target < features:
            raise ValueError(
                f"target must be an index into the features, 0 to {features - 1}, got {target!r}"
            )
        self.features = features
        self.window = window
        self.target = target
        self.encoder_lstm = nn.LSTMCell(features, encoder_hidden)
        self.W_e = nn.Linear(2 * encoder_hidden, window)
        self.U_e = nn.Linear(window, window, bias=False)
        self.v_e = nn.Linear(window, 1)
        self.decoder_lstm = nn.LSTMCell(1, decoder_hidden)
        self.W_d = nn.Linear(2 * decoder_hidden, encoder_hidden)
        self.U_d = nn.Linear(encoder_hidden, encoder_hidden, bias=False)
        self.v_d = nn.Linear(encoder_hidden, 1)
        self.w_tilde = nn.Linear(1 + encoder_hidden, 1)  # of [y; c]
        self.output = nn.Linear(decoder_hidden + encoder_hidden, 1)  # of [d; c]

    def forward(self, x: Tensor) -> Tensor:
        """Predict the target's next value, (batch, 1)."""
        check_input(x, "batch, window, features", (self.window, self.features), self.v_e.weight)
        hidden, _ = self._encode(x)
        state, context, _ = self._decode(hidden, x[:, :, self.target])
        return self.output(torch.cat((state, context), 1))  # type: ignore[no-any-return]  # eq. 22

    def attention_weights(self, x: Tensor) -> dict[str, Tensor]:
        """Return the weights of both attentions; each sums to one over its last axis.

        ``"input"`` is (batch, window, features), alpha of equation 9; ``"temporal"``
        is (batch, decoder steps, encoder steps), beta of equation 13.
        """
        check_input(x, "batch, window, features", (self.window, self.features), self.v_e.weight)
        hidden, alphas = self._encode(x)
        _, _, betas = self._decode(hidden, x[:, :, self.target])
        return {"input": torch.stack(alphas, 1), "temporal": torch.stack(betas, 1)}

    def _encode(self, x: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the encoder's states, (batch, window, m), and alpha at every step."""
        series = x.transpose(1, 2)  # x^k: (batch, features, window)
        h = s = x.new_zeros(x.shape[0], self.encoder_lstm.hidden_size)  # (batch, m)
        hidden, alphas = [], []
        for x_t in x.unbind(1):  # (batch, features)
            query = self.W_e(torch.cat((h, s), 1)).unsqueeze(1)  # (batch, 1, window)
            e_t = self.v_e(torch.tanh(query + self.U_e(series))).squeeze(2)  # eq. 8
            alpha = e_t.softmax(1)  # eq. 9: (batch, features)
            h, s = self.encoder_lstm(alpha * x_t, (h, s))  # eq. 10
            hidden.append(h)
            alphas.append(alpha)
        return torch.stack(hidden, 1), alphas

    def _decode(self, hidden: Tensor, y: Tensor) -> tuple[Tensor, Tensor, list[Tensor]]:
        """Return the last state (batch, p), the last context (batch, m), and all betas."""
        d = s = hidden.new_zeros(hidden.shape[0], self.decoder_lstm.hidden_size)  # (batch, p)
        betas = []
        for y_t in y.split(1, 1):  # (batch, 1)
            query = self.W_d(torch.cat((d, s), 1)).unsqueeze(1)  # (batch, 1, m)
            l_t = self.v_d(torch.tanh(query + self.U_d(hidden))).squeeze(2)  # eq. 12
            beta = l_t.softmax(1)  # eq. 13: (batch, window)
            context = (beta.unsqueeze(2) * hidden).sum(1)  # eq. 14: (batch, m)
            y_tilde = self.w_tilde(torch.cat((y_t, context), 1))  # eq. 15: (batch, 1)
            d, s = self.decoder_lstm(y_tilde, (d, s))  # eq. 16
            betas.append(beta)
        return d, context, betas
