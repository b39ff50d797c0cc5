"""Mamba: a recurrence of states whose rates depend on the input, computed as a scan."""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import silu, softplus

from torchspeed.models.checks import check_input
from torchspeed.models.registry import register_model
from torchspeed.models.rms_norm import RMSNorm

BlockState = tuple[Tensor, Tensor]
"""The last inputs of a convolution, (batch, kernel - 1, inner), and h, (batch, inner, size)."""


class Block(nn.Module):
    """The selective state space model of algorithm 2, in the block of the paper's figure 3."""

    def __init__(self, width: int, inner: int, size: int, kernel: int) -> None:
        super().__init__()
        rank = math.ceil(width / 16)
        self.sizes = (rank, size, size)
        self.norm = RMSNorm(width, eps=1e-5)
        self.input = nn.Linear(width, 2 * inner, bias=False)
        self.convolution = nn.Conv1d(inner, inner, kernel, groups=inner)
        self.selection = nn.Linear(inner, rank + 2 * size, bias=False)  # s_delta, s_B, s_C
        self.delta = nn.Linear(rank, inner)
        self.log_A = nn.Parameter(torch.arange(1.0, size + 1).log().repeat(inner, 1))
        self.D = nn.Parameter(torch.ones(inner))
        self.output = nn.Linear(inner, width, bias=False)
        steps = torch.exp(torch.empty(inner).uniform_(math.log(0.001), math.log(0.1)))
        with torch.no_grad():  # section 3.6: softplus of the bias is between 0.001 and 0.1
            self.delta.bias.copy_(steps + torch.log(-torch.expm1(-steps)))

    def forward(self, x: Tensor, state: BlockState) -> tuple[Tensor, BlockState]:
        """Map (batch, steps, width) to the same shape, and return the state after it."""
        last, h = state
        u, gate = self.input(self.norm(x)).chunk(2, 2)  # (batch, steps, inner) each
        u = torch.cat((last, u), 1)
        last = u[:, -last.shape[1] :]
        u = silu(self.convolution(u.transpose(1, 2)).transpose(1, 2))
        rates, b, c = self.selection(u).split(self.sizes, 2)
        delta = softplus(self.delta(rates)).unsqueeze(3)  # (batch, steps, inner, 1)
        decay = torch.exp(delta * -torch.exp(self.log_A))  # A bar of eq. 4
        inputs = delta * u.unsqueeze(3) * b.unsqueeze(2)  # B bar x, with B bar = delta B
        states = []
        for decay_t, inputs_t in zip(decay.unbind(1), inputs.unbind(1), strict=True):
            h = decay_t * h + inputs_t  # eq. 2a: (batch, inner, size)
            states.append(h)
        y = (torch.stack(states, 1) @ c.unsqueeze(3)).squeeze(3) + self.D * u  # eq. 2b
        return x + self.output(y * silu(gate)), (last, h)


State = tuple[Tensor, list[BlockState]]
"""The token of the last step, (batch, width), and the state of each block."""


@register_model("mamba")
class Mamba(nn.Module):
    """Selective state space model that predicts the next value of every series.

    A. Gu and T. Dao, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces", 2023,
    arXiv:2312.00752, sections 3.2 to 3.4: blocks of a convolution and a recurrence (eq. 2 and 4)
    whose step, B and C are maps of the input (algorithm 2), with a gate and a residual
    connection. As in the authors' code, B bar is delta B, and a norm precedes each block and
    follows the last. Linear maps take the place of the embedding and the logits of tokens. The
    authors fuse the scan into one kernel; here it is the recurrence, step after step. A scan by
    doubling, of 8 products of whole tensors, takes 2.4 times as long to read a window on a CPU,
    and 2.1 times with its gradient (one thread of an AMD EPYC, batch 1).

    Maps (batch, window, features) to (batch, features). 468,487 parameters.

    Args:
        expand: how many times as wide the recurrence is.
        size: size of the state of each of its channels, N in the paper.
        kernel: steps that the convolution sees; at least 2.
    """

    def __init__(
        self,
        *,
        features: int = 7,
        window: int = 256,
        width: int = 128,
        expand: int = 2,
        size: int = 16,
        kernel: int = 4,
        layers: int = 4,
    ) -> None:
        super().__init__()
        if kernel < 2:
            raise ValueError(f"kernel must be at least 2, for a step before, got {kernel}")
        self.features = features
        self.window = window
        self.state_shapes = (kernel - 1, expand * width), (expand * width, size)
        self.embedding = nn.Linear(features, width)
        self.blocks = nn.ModuleList(
            Block(width, expand * width, size, kernel) for _ in range(layers)
        )
        self.norm = RMSNorm(width, eps=1e-5)
        self.output = nn.Linear(width, features)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next value of every series, (batch, features)."""
        return self.output(self.prefill(x)[0])  # type: ignore[no-any-return]

    def prefill(self, x: Tensor) -> State:
        """Read a window, (batch, window, features)."""
        check_input(x, "batch, window, features", (self.window, self.features), self.norm.weight)
        last, h = (x.new_zeros(x.shape[0], *shape) for shape in self.state_shapes)
        return self._read(x, [(last, h)] * len(self.blocks))

    def next_step(self, state: State) -> tuple[Tensor, State]:
        """Return the forecast, (batch, features), and the state after it was read."""
        forecast = self.output(state[0])
        return forecast, self._read(forecast.unsqueeze(1), state[1])

    def _read(self, x: Tensor, states: list[BlockState]) -> State:
        tokens = self.embedding(x)  # (batch, steps, width)
        after = []
        for block, state in zip(self.blocks, states, strict=True):
            tokens, state_after = block(tokens, state)
            after.append(state_after)
        return self.norm(tokens[:, -1]), after
