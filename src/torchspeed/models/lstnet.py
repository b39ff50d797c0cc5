"""LSTNet: convolution, a recurrence, one that skips whole periods, an autoregression."""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, linear

from torchspeed.models.checks import check_at_most, check_input
from torchspeed.models.registry import register_model


class ReluGRU(nn.Module):
    """Gated recurrent unit of the paper's section 3.3, from a zero state.

    ``torch.nn.GRU`` has tanh instead of relu, a gate that keeps where this one renews
    (z = 1 - u), and a second bias per gate. The gates lie in the order r, u, c.
    """

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(hidden)  # as torch.nn.GRU starts
        self.weight_ih = nn.Parameter(torch.empty(3 * hidden, features).uniform_(-bound, bound))
        self.weight_hh = nn.Parameter(torch.empty(3 * hidden, hidden).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(3 * hidden).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        """Return the last state, (batch, hidden), of the steps (batch, steps, features)."""
        h = x.new_zeros(x.shape[0], self.weight_hh.shape[1])
        for x_t in x.unbind(1):
            x_r, x_u, x_c = linear(x_t, self.weight_ih, self.bias).chunk(3, 1)
            h_r, h_u, h_c = linear(h, self.weight_hh).chunk(3, 1)
            r = torch.sigmoid(x_r + h_r)
            u = torch.sigmoid(x_u + h_u)
            c = torch.relu(x_c + r * h_c)
            h = (1 - u) * h + u * c
        return h


@register_model("lstnet")
class LSTNet(nn.Module):
    """Long- and short-term time-series network.

    G. Lai et al., "Modeling Long- and Short-Term Temporal Patterns with Deep Neural
    Networks", SIGIR 2018, arXiv:1703.07015: convolution (section 3.2), recurrent
    component (3.3), recurrent-skip component (3.4) and autoregression (3.6). As in
    the authors' code, the convolution stays inside the window, so it leaves
    window - kernel + 1 steps; the paper's text pads the window with zeros on the left.

    561 parameters. Where this differs from laiguokun/LSTNet (579): the candidate state
    passes through relu, as the paper says, not tanh, there is one bias per gate, and the
    skip component takes every whole period that the convolution leaves, not
    (window - kernel) / skip of them.
    FluxArchitectures' version (538 parameters) convolves the whole window to one
    vector and runs both recurrences along the *samples*, without a reset between
    calls; its skip of 60 only makes sense there. Its autoregression sees the last
    step only, and it has one output.

    Maps (batch, window, features) to (batch, features).

    Args:
        channels: filters of the convolution.
        kernel: length of the filters, at most the window.
        recurrent: size of the recurrent component's state.
        skip: period of the skip component, in steps, p in the paper; at most the steps
            that the convolution leaves.
        skip_recurrent: size of the skip component's state.
        highway: last steps that the autoregression sees, at most the window.
        dropout: probability, in training mode. The authors train with 0.2; Flux's
            configuration has none.
    """

    def __init__(
        self,
        *,
        features: int = 20,
        window: int = 10,
        channels: int = 2,
        kernel: int = 6,
        recurrent: int = 3,
        skip: int = 2,
        skip_recurrent: int = 3,
        highway: int = 10,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        check_at_most("kernel", kernel, "window", window)
        check_at_most("skip", skip, "window - kernel + 1", window - kernel + 1)
        check_at_most("highway", highway, "window", window)
        self.features = features
        self.window = window
        self.skip = skip
        self.dropout = dropout
        self.convolution = nn.Conv1d(features, channels, kernel)
        self.gru = ReluGRU(channels, recurrent)
        self.skip_gru = ReluGRU(channels, skip_recurrent)
        self.output = nn.Linear(recurrent + skip * skip_recurrent, features)
        self.autoregression = nn.Linear(highway, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next value of every series, (batch, features)."""
        check_input(x, "batch, window, features", (self.window, self.features), self.output.weight)
        # Section 3.2: (batch, channels, steps), then the steps before the channels.
        conv = torch.relu(self.convolution(x.transpose(1, 2))).transpose(1, 2)
        conv = dropout(conv, self.dropout, self.training)

        recurrent = self.gru(conv)  # section 3.3: (batch, recurrent)

        # Section 3.4: each phase of the period is a sequence of its own.
        periods = conv.shape[1] // self.skip
        whole = conv[:, -periods * self.skip :].unflatten(1, (periods, self.skip))
        phases = whole.transpose(1, 2).flatten(0, 1)  # (batch * skip, periods, channels)
        skipped = self.skip_gru(phases).view(x.shape[0], -1)  # (batch, skip * skip_recurrent)

        states = dropout(torch.cat((recurrent, skipped), 1), self.dropout, self.training)
        past = x[:, self.window - self.autoregression.in_features :]  # section 3.6
        autoregressive = self.autoregression(past.transpose(1, 2)).squeeze(2)
        return self.output(states) + autoregressive  # type: ignore[no-any-return]
