"""Other ways to write parts of our models, timed: ``python -m tools.compare_formulations``.

Each alternative is the same function with the same parameters, timed in turn with ours in one
process as by `tools.compare_peers`. A ratio above 1 says how much faster the alternative is.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import sys
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tools.compare_peers import Contest, Maker, print_conditions, ratio
from tools.exit_status import exit_status
from torchspeed.models import TPALSTM, DSANet, LSTNet
from torchspeed.models.dropout import dropout
from torchspeed.models.dsanet import SelfAttention
from torchspeed.models.dsanet import apply as apply_first
from torchspeed.models.lstm import LSTM, LSTMWeights, lstm_state
from torchspeed.workloads import get_workload


class LoopLSTM(nn.Module):
    """The LSTM as a loop over its steps, batch last, instead of torch's own kernel."""

    def __init__(self, lstm: LSTM) -> None:
        super().__init__()
        self.hidden = lstm.hidden
        self.layers = nn.ModuleList(_reordered(layer) for layer in lstm.layers)

    def forward(self, x: Tensor) -> Tensor:
        """Map (steps, batch, features) to the hidden states, (steps, batch, hidden)."""
        steps = x.transpose(1, 2)  # (steps, features, batch)
        for layer in self.layers:
            weight_ih, weight_hh, bias = cast("LSTMWeights", layer).doubled()
            gates = torch.matmul(weight_ih, steps) + bias
            state = cell = x.new_zeros(self.hidden, x.shape[1])
            states = []
            for gates_x in gates.unbind():
                state, cell = lstm_state(torch.addmm(gates_x, weight_hh, state), cell)
                states.append(state)
            steps = torch.stack(states)
        return steps.transpose(1, 2)


def _reordered(layer: nn.Module) -> LSTMWeights:
    """Copy weights whose gates are in torch's order into the order of `lstm_state`."""
    weights = cast("LSTMWeights", layer)
    reordered = LSTMWeights(weights.weight_ih.shape[1], weights.weight_hh.shape[1])
    with torch.no_grad():
        for own, theirs in zip(reordered.parameters(), weights.parameters(), strict=True):
            input_gate, forget_gate, candidate, output_gate = theirs.chunk(4)
            own.copy_(torch.cat((input_gate, forget_gate, output_gate, candidate)))
    return reordered


def loop_over_steps(model: TPALSTM) -> nn.Module:
    """Return TPA-LSTM with its recurrence as a loop."""
    other = copy.deepcopy(model)
    other.lstm = LoopLSTM(model.lstm)  # type: ignore[assignment]
    return other


class BandedLSTNet(LSTNet):
    """LSTNet whose autoregression is a product with a banded matrix, as its convolution is."""

    def forward(self, x: Tensor) -> Tensor:
        """Predict the next value of every series, (batch, features)."""
        conv = self._convolve(x).relu()
        channels, steps, batch = conv.shape
        periods = steps // self.skip
        phases = conv[:, steps - periods * self.skip :].reshape(channels, periods, -1)
        skipped = self.skip_gru(phases).view(-1, batch)
        states = torch.cat((self.gru(conv), skipped))
        highway = self.autoregression.in_features
        past = x[:, self.window - highway :].flatten(1)
        # A diagonal of each weight, one below the other: (highway * features, features).
        eye = torch.eye(self.features)
        band = (self.autoregression.weight.view(-1, 1, 1) * eye).flatten(0, 1)
        bias = self.output.bias + self.autoregression.bias
        return torch.addmm(torch.addmm(bias, past, band), states.t(), self.output.weight.t())


def banded_autoregression(model: LSTNet) -> nn.Module:
    """Return LSTNet with `BandedLSTNet`'s forward pass."""
    other = copy.deepcopy(model)
    other.__class__ = BandedLSTNet
    return other


class FusedAttention(SelfAttention):
    """DSANet's attention by ``scaled_dot_product_attention``, which wants the size last."""

    def forward(self, x: Tensor) -> Tensor:
        """Map (d_model, batch, series) to the same shape."""
        d_model, batch, series = x.shape
        size = d_model // self.heads
        query, key, value = (
            part.view(self.heads, size, batch, series).permute(2, 0, 3, 1)
            for part in apply_first(self.query_key_value, x).chunk(3)
        )
        mixed = F.scaled_dot_product_attention(
            query, key, value, dropout_p=self.dropout if self.training else 0.0
        )  # (batch, heads, series, size)
        mixed = apply_first(self.output, mixed.permute(1, 3, 0, 2).reshape(d_model, batch, series))
        out: Tensor = self.norm(x + dropout(mixed, self.dropout, self.training))
        return out


def fused_attention(model: DSANet) -> nn.Module:
    """Return DSANet with `FusedAttention` in every layer."""
    other = copy.deepcopy(model)
    for tower in (other.global_tower, other.local_tower):
        for layer in tower.layers:
            cast("nn.Module", layer.attention).__class__ = FusedAttention
    return other


FORMULATIONS: dict[str, dict[str, Maker]] = {
    "tpa_lstm": {"loop over steps": loop_over_steps},
    "lstnet": {"banded autoregression": banded_autoregression},
    "dsanet": {"fused attention": fused_attention},
}


def compare(seconds: float) -> None:
    """Print a Markdown table, line by line as it is measured.

    Raises:
        TorchspeedError: There is no time to measure in.
    """
    print_conditions(seconds)
    print("| model | alternative | pass | ours | ours / alternative | rounds |")
    print("|---|---|---|---|---|---|")
    for name, makers in FORMULATIONS.items():
        contest = Contest(get_workload(name), makers, compiled=False)
        for which in contest.passes:
            times = contest.times(which, seconds / len(contest.passes))
            ours = times["eager"]
            for alternative in makers:
                speed = ratio(ours, times[alternative])
                median = f"{statistics.median(ours) * 1e3:.2f} ms"
                line = f"{name} | {alternative} | {which} | {median} | {speed} | {len(ours)}"
                print(f"| {line} |", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Compare; print an error that a person can mend as one line."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.compare_formulations", description="Time other ways to write a part."
    )
    parser.add_argument(
        "--seconds", type=float, default=12.0, help="time to spend on a model (%(default)s)"
    )
    options = parser.parse_args(arguments)
    return exit_status(lambda: compare(options.seconds))


if __name__ == "__main__":
    sys.exit(main())
