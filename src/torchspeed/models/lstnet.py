"""LSTNet: convolution, a recurrence, one that skips whole periods, an autoregression."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from torchspeed.models.checks import check_at_most, check_fraction, check_input, check_sizes
from torchspeed.models.registry import register_model
from torchspeed.models.relu_gru import ReluGRU


@register_model("lstnet")
class LSTNet(nn.Module):
    """Long- and short-term time-series network.

    G. Lai et al., "Modeling Long- and Short-Term Temporal Patterns with Deep Neural
    Networks", SIGIR 2018, arXiv:1703.07015: convolution (section 3.2), recurrent
    component (3.3), recurrent-skip component (3.4) and autoregression (3.6). As in
    the authors' code, the convolution stays inside the window, so it leaves
    window - kernel + 1 steps; the paper's text pads the window with zeros on the left.

    Where this differs from laiguokun/LSTNet (579 parameters): the candidate state
    passes through relu, as the paper says, not tanh, there is one bias a gate, and the
    skip component takes every whole period that the convolution leaves, not
    (window - kernel) / skip of them.
    FluxArchitectures' version (538 parameters) convolves the whole window to one
    vector and runs both recurrences along the *samples*, without a reset between
    calls; its skip of 60 only makes sense there. Its autoregression sees the last
    step only, and it has one output.

    Maps (batch, window, features) to (batch, features).

    Args:
        features: series in the input, all of them predicted.
        window: time steps of the input.
        channels: filters of the convolution.
        kernel: length of the filters, at most the window.
        recurrent: size of the recurrent component's state.
        skip: steps between two that the skip component connects, p in the paper; at
            most what the convolution leaves.
        skip_recurrent: size of the skip component's state.
        highway: last steps that the autoregression sees, at most the window.
        dropout: probability, in training mode. The authors train with 0.2; Flux's
            configuration has none.

    Raises:
        ValueError: a size below 1, a window too short for kernel, skip or highway, or
            a dropout outside [0, 1).
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
        check_sizes(
            features=features,
            window=window,
            channels=channels,
            kernel=kernel,
            recurrent=recurrent,
            skip=skip,
            skip_recurrent=skip_recurrent,
            highway=highway,
        )
        check_fraction(dropout=dropout)
        check_at_most("kernel", kernel, "window", window)
        check_at_most("skip", skip, "window - kernel + 1", window - kernel + 1)
        check_at_most("highway", highway, "window", window)
        self.features = features
        self.window = window
        self.skip = skip
        self.dropout = dropout
        self.convolution = nn.Linear(kernel * features, channels)  # of one patch
        self.gru = ReluGRU(channels, recurrent)
        self.skip_gru = ReluGRU(channels, skip_recurrent)
        self.output = nn.Linear(recurrent + skip * skip_recurrent, features)
        self.autoregression = nn.Linear(highway, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next value of every series, (batch, features)."""
        check_input(x, "batch, window, features", (self.window, self.features), self.output.weight)
        batch = x.shape[0]
        conv = self._convolve(x).relu()  # (channels, steps, batch): the batch last
        conv = nn.functional.dropout(conv, self.dropout, self.training)
        channels, steps, _ = conv.shape

        recurrent = self.gru(conv)  # (recurrent, batch)
        # The skip component sees each phase of the period as a sample of its own.
        periods = steps // self.skip
        phases = conv[:, steps - periods * self.skip :].reshape(channels, periods, -1)
        skipped = self.skip_gru(phases).view(-1, batch)  # (skip_recurrent * skip, batch)
        states = torch.cat((recurrent, skipped))
        states = nn.functional.dropout(states, self.dropout, self.training)

        highway = self.autoregression.in_features
        past = x[:, self.window - highway :]
        linear = (past * self.autoregression.weight.t()).sum(1)
        linear = linear + (self.autoregression.bias + self.output.bias)
        return torch.addmm(linear, states.t(), self.output.weight.t())

    def _convolve(self, x: Tensor) -> Tensor:
        """Return every filter's response at every step, (channels, steps, batch).

        The filters are written as one banded matrix: a row for each filter and step,
        the filter moved along by one step from row to row. It does more arithmetic than
        a convolution, half of it with zeros, but in a single product, with the batch
        where the recurrences want it: forward and backward on one CPU thread, measured
        6 times as fast as torch's Conv2d, and 2.3 times a product over unfolded patches.
        """
        windows = x.flatten(1)  # (batch, numbers in a window)
        # A view of the filter with zeros on both sides, as long as a window: moved along the
        # zeros, it shows the filter at the last step first.
        zeros = windows.shape[1] - self.convolution.in_features
        padded = nn.functional.pad(self.convolution.weight, (zeros, zeros))
        band = padded.unfold(1, windows.shape[1], self.features).flip(1)
        channels, steps, _ = band.shape
        responses = (band.flatten(0, 1) @ windows.t()).view(channels, steps, -1)
        return responses + self.convolution.bias[:, None, None]
