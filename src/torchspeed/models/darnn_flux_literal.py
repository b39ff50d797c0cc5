"""DA-RNN as FluxArchitectures computes it, which differs from the paper."""

import torch
from torch import Tensor, nn

from torchspeed.models.checks import check_input
from torchspeed.models.lstm import LSTMWeights
from torchspeed.models.registry import register_model


@register_model("darnn_flux_literal")
class DARNNFluxLiteral(nn.Module):
    """What sdobber/FluxArchitectures computes under the name of DARNN.

    It is for comparisons with published values; to forecast, use `DARNN`. It differs from
    the paper (arXiv:1704.02971):

    - at every time step both LSTMs run along the *samples*: each sample starts from the state
      after the one before it, the first from the last state of the previous time step;
    - the encoder's scores are computed with the samples as the fastest axis and read
      with the series as the fastest, so that a softmax mixes samples.

    Flux also keeps the state from call to call. Here every call starts from zero:
    the same work, and results that depend on the input alone.

    Maps (batch, window, features) to (batch, 1). Sizes as in `DARNN`; 785 parameters.
    """

    def __init__(
        self,
        *,
        features: int = 10,
        window: int = 10,
        encoder_hidden: int = 5,
        decoder_hidden: int = 5,
    ) -> None:
        super().__init__()
        self.features = features
        self.window = window
        self.encoder_lstm = LSTMWeights(features, encoder_hidden)
        self.encoder_attention = nn.Sequential(
            nn.Linear(2 * encoder_hidden + window, window), nn.Tanh(), nn.Linear(window, 1)
        )
        self.decoder_lstm = LSTMWeights(1, decoder_hidden)
        self.decoder_attention = nn.Sequential(
            nn.Linear(2 * decoder_hidden + encoder_hidden, encoder_hidden),
            nn.Tanh(),
            nn.Linear(encoder_hidden, 1),
        )
        self.combine = nn.Linear(encoder_hidden + 1, 1)
        self.output = nn.Linear(decoder_hidden + encoder_hidden, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the first series' next value, (batch, 1)."""
        check_input(x, "batch, window, features", (self.window, self.features), self.output.weight)
        batch = x.shape[0]
        series = x.permute(2, 0, 1)  # (features, batch, window)
        hidden = cell = x.new_zeros(batch, self.encoder_lstm.weight_hh.shape[1])
        states = []
        for x_t in x.unbind(1):
            state = torch.cat((hidden, cell), 1).expand(self.features, -1, -1)
            scores = self.encoder_attention(torch.cat((state, series), 2))
            # (features, batch, 1) read as (batch, features): the mix of samples.
            alpha = scores.reshape(batch, self.features).softmax(1)
            hidden, cell = along_samples(self.encoder_lstm, alpha * x_t, hidden, cell)
            states.append(hidden)
        encoded = torch.stack(states, 1)  # (batch, window, encoder_hidden)

        hidden = cell = x.new_zeros(batch, self.decoder_lstm.weight_hh.shape[1])
        for y_t in x[:, :, :1].unbind(1):
            state = torch.cat((hidden, cell), 1).unsqueeze(1).expand(-1, self.window, -1)
            scores = self.decoder_attention(torch.cat((state, encoded), 2))
            beta = scores.softmax(1)  # (batch, window, 1)
            context = (encoded * beta).sum(1)
            known = self.combine(torch.cat((context, y_t), 1))
            hidden, cell = along_samples(self.decoder_lstm, known, hidden, cell)
        return self.output(torch.cat((hidden, context), 1))  # type: ignore[no-any-return]


def along_samples(
    weights: LSTMWeights, x: Tensor, hidden: Tensor, cell: Tensor
) -> tuple[Tensor, Tensor]:
    """Run an LSTM over the samples (batch, features), from the last state of the step before.

    Gates lie in torch's order. States are (batch, hidden), before and after every sample.
    """
    state = hidden[-1:], cell[-1:]
    states = []
    for sample in torch.split(x, 1):
        state = torch.lstm_cell(
            sample, state, weights.weight_ih, weights.weight_hh, weights.bias, weights.no_bias
        )
        states.append(state)
    every_hidden, every_cell = zip(*states, strict=True)
    return torch.cat(every_hidden), torch.cat(every_cell)
