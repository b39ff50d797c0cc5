"""LSTNet as FluxArchitectures computes it, which differs from the paper."""

import torch
from torch import Tensor, nn

from torchspeed.models.checks import check_input
from torchspeed.models.lstnet import ReluGRU
from torchspeed.models.registry import register_model


@register_model("lstnet_flux_literal")
class LSTNetFluxLiteral(nn.Module):
    """What sdobber/FluxArchitectures computes under the name of LSTnet.

    It is for comparisons with published values; to forecast, use `LSTNet`. It differs from
    the paper (arXiv:1703.07015):

    - a filter is as long as the window and leaves one vector per sample, so there are no
      time steps: both recurrences run along the *samples*, the second over samples
      ``skip`` apart;
    - the autoregression sees the last step of all series, and there is one output.

    Like Flux, this computes the convolution twice, once for each recurrence. Flux keeps
    the state from call to call; here every call starts from zero: the same work, and
    results that depend on the input alone.

    Maps (batch, window, features) to (batch, 1). Sizes as in `LSTNet`; 538 parameters.
    """

    def __init__(
        self,
        *,
        features: int = 20,
        window: int = 10,
        channels: int = 2,
        recurrent: int = 3,
        skip: int = 60,
    ) -> None:
        super().__init__()
        self.features = features
        self.window = window
        self.skip = skip
        self.convolution = nn.Linear(window * features, channels)  # of the whole window
        self.gru = ReluGRU(channels, recurrent)
        self.skip_gru = ReluGRU(channels, recurrent)
        self.output = nn.Linear(2 * recurrent, 1)
        self.autoregression = nn.Linear(features, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Predict one value per sample, (batch, 1)."""
        check_input(x, "batch, window, features", (self.window, self.features), self.output.weight)
        recurrent = along_samples(self.gru, self.convolution(x.flatten(1)).relu(), 1)
        skipped = along_samples(self.skip_gru, self.convolution(x.flatten(1)).relu(), self.skip)
        nonlinear = self.output(torch.cat((recurrent, skipped), 1))
        return nonlinear + self.autoregression(x[:, -1])  # type: ignore[no-any-return]


def along_samples(gru: ReluGRU, x: Tensor, skip: int) -> Tensor:
    """Run over the samples (batch, features), each from the state ``skip`` samples before.

    The first starts from zero, the next ``skip`` from the first. Samples that start from different
    states are computed together. Returns the state after every sample, (batch, hidden).
    """
    state = x.new_zeros(1, gru.weight_hh.shape[1])
    states = []
    for block in (x[:1], *torch.split(x[1:], skip)):
        state = step(gru, block, state[: len(block)])
        states.append(state)
    return torch.cat(states)


def step(gru: ReluGRU, x: Tensor, state: Tensor) -> Tensor:
    """Make one step of (batch, features); the second gate *keeps* the state, as in Flux."""
    hidden = state.shape[1]
    from_input = nn.functional.linear(x, gru.weight_ih, gru.bias)
    gates_x, candidate_x = from_input.split_with_sizes([2 * hidden, hidden], 1)
    from_state = nn.functional.linear(state, gru.weight_hh)
    gates_h, candidate_h = from_state.split_with_sizes([2 * hidden, hidden], 1)
    reset, keep = (gates_x + gates_h).sigmoid().chunk(2, 1)
    candidate = torch.addcmul(candidate_x, reset, candidate_h).relu()
    return torch.lerp(candidate, state.expand_as(candidate), keep)
