"""TimesNet: a series folded by its periods into images, and convolved."""

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, gelu, pad

from torchspeed.models.checks import check_at_most, check_input
from torchspeed.models.instance_norm import ReversibleInstanceNorm
from torchspeed.models.positions import sinusoids
from torchspeed.models.registry import register_model


class Inception(nn.Module):
    """The mean of convolutions with filters of 1, 3, 5, ... pixels."""

    def __init__(self, inputs: int, outputs: int, kernels: int) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(
            nn.Conv2d(inputs, outputs, 2 * size + 1, padding=size) for size in range(kernels)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, height, width) to (batch, outputs, height, width)."""
        return torch.stack([convolution(x) for convolution in self.convolutions], -1).mean(-1)


class TimesBlock(nn.Module):
    """Folds a series by each of its main periods, convolves the images, and adds them up."""

    def __init__(self, width: int, inner: int, periods: int, kernels: int) -> None:
        super().__init__()
        self.periods = periods
        self.first = Inception(width, inner, kernels)
        self.second = Inception(inner, width, kernels)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, steps, width) to the same shape."""
        steps = x.shape[1]
        amplitudes = torch.fft.rfft(x, dim=1).abs().mean(2)  # A of eq. 1: (batch, frequencies)
        frequencies = amplitudes.mean(0)[1:].topk(self.periods).indices + 1
        unfolded = []
        for frequency in frequencies.tolist():
            period = -(-steps // frequency)  # p_i = T / f_i, rounded up (eq. 1)
            padded = pad(x, (0, 0, 0, period * frequency - steps))
            image = padded.unflatten(1, (frequency, period)).permute(0, 3, 2, 1)  # eq. 3
            image = self.second(gelu(self.first(image)))  # eq. 5: (batch, width, p_i, f_i)
            unfolded.append(image.permute(0, 3, 2, 1).flatten(1, 2)[:, :steps])  # Trunc of eq. 5
        weights = amplitudes[:, frequencies].softmax(1)  # (batch, periods)
        mixed = torch.stack(unfolded, -1) * weights[:, None, None]  # eq. 6
        return x + mixed.sum(-1)  # type: ignore[no-any-return]  # eq. 4


@register_model("timesnet")
class TimesNet(nn.Module):
    """Temporal variations within and between periods, as images.

    H. Wu et al., "TimesNet: Temporal 2D-Variation Modeling for General Time Series Analysis",
    ICLR 2023, arXiv:2210.02186, sections 3.1 and 3.2: the frequencies with the largest
    amplitudes (eq. 1 and 2) fold the embedded series into images of period x frequency (eq. 3);
    an inception block convolves them (eq. 5), and the amplitudes weigh the unfolded results
    (eq. 6), in residual layers (eq. 4). For a
    forecast, a linear map first makes the window as long as window and horizon together, and
    each series is normalised over its window, without parameters.

    As in the authors' code, amplitudes are averaged over the batch to choose frequencies: all
    samples of a batch share their periods, so one's forecast depends on the others, and the
    choice is made on the CPU, for which a GPU has to wait. The code rounds periods down and
    pads images to whole periods; here images are p x f, as in the paper. Its embedding
    of calendar dates is left out, as there are none. Convolutions start as torch's, which
    the code starts by the rule of He et al. The code detaches the mean of a window, but not its
    deviation; here the gradient passes through both.

    Maps (batch, window, features) to (batch, horizon, features). 605,415 parameters.

    Args:
        width: size of an embedded step, d_model in the paper; even.
        inner: channels between the two inception blocks.
        periods: frequencies that are chosen, k; at most half of window and horizon.
        kernels: convolutions of an inception block.
        dropout: probability, in training mode, of the embedding.
    """

    positions: Tensor

    def __init__(
        self,
        *,
        features: int = 7,
        window: int = 96,
        horizon: int = 96,
        width: int = 16,
        inner: int = 32,
        layers: int = 2,
        periods: int = 5,
        kernels: int = 6,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        steps = window + horizon
        check_at_most("periods", periods, "(window + horizon) / 2", steps // 2)
        self.features = features
        self.window = window
        self.horizon = horizon
        self.dropout = dropout
        self.norm = ReversibleInstanceNorm(features, affine=False)
        self.embedding = nn.Conv1d(
            features, width, 3, padding=1, padding_mode="circular", bias=False
        )
        self.register_buffer("positions", sinusoids(window, width), persistent=False)
        self.extend = nn.Linear(window, steps)
        self.blocks = nn.ModuleList(
            TimesBlock(width, inner, periods, kernels) for _ in range(layers)
        )
        self.block_norm = nn.LayerNorm(width)  # one for all layers, as the authors have it
        self.projection = nn.Linear(width, features)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next values of every series, (batch, horizon, features)."""
        weight = self.projection.weight
        check_input(x, "batch, window, features", (self.window, self.features), weight)
        x, statistics = self.norm(x)
        embedded = self.embedding(x.transpose(1, 2)).transpose(1, 2)  # (batch, window, width)
        embedded = dropout(embedded + self.positions, self.dropout, self.training)
        states = self.extend(embedded.transpose(1, 2)).transpose(1, 2)  # (batch, steps, width)
        for block in self.blocks:
            states = self.block_norm(block(states))
        forecast = self.projection(states[:, -self.horizon :])
        return self.norm.reverse(forecast, statistics)
