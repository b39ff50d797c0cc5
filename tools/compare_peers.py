"""How much faster the models are than their peers: ``make compare-peers``.

For each workload its peers run in one process, in turn, round after round, so that a
load on the machine slows all of them equally; every round gives one ratio of times a
peer, and the table shows the median ratio with its quartiles. Peers are

- ``naive``: the model as one first writes it, in the structure of the original PyTorch
  code (``tests/models/naive``; of the image classifiers, an ``nn.Sequential``);
- ``torch.nn``: the nearest ready-made modules (`tools.torch_nn`), which for forecasts do
  less work;
- ``eager``: ours;
- ``compiled``, if asked for: ours under ``torch.compile(fullgraph=True)`` with the
  workload's own options.

Passes: forward under ``inference_mode``; ``recorded``, a forward that records its graph;
backward, a forward and the gradient of the objective by parameters and input; and, of
models that drop out, ``training``, the same with dropout, as the suites time it. The
clock is the process's CPU time, one thread.
"""

from __future__ import annotations

import argparse
import datetime
import os
import statistics
import sys
import time
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from tests.models.naive.darnn import NaiveDARNN
from tests.models.naive.dsanet import NaiveDSANet
from tests.models.naive.lstnet import NaiveLSTNet
from tests.models.naive.tpa_lstm import NaiveTPALSTM
from tools import torch_nn
from tools.exit_status import exit_status
from torchspeed.errors import TorchspeedError
from torchspeed.measure.allocator import keep_memory
from torchspeed.measure.clocks import clock_for
from torchspeed.workloads import Workload, get_workload

Maker = Callable[..., nn.Module]
"""Makes a peer from a model of ours."""

PEERS: dict[str, dict[str, Maker]] = {
    "darnn": {"naive": NaiveDARNN, "torch.nn": torch_nn.EncoderDecoder},
    "dsanet": {"naive": NaiveDSANet, "torch.nn": torch_nn.TransformerTowers},
    "lstnet": {"naive": NaiveLSTNet, "torch.nn": torch_nn.ConvolutionGRU},
    "tpa_lstm": {"naive": NaiveTPALSTM, "torch.nn": torch_nn.LSTMAttention},
    "flux_cnn": {"naive": torch_nn.flux_cnn},
    "lenet5": {"naive": torch_nn.lenet5},
}
PASSES = ("forward", "recorded", "backward", "training")
FEWEST_ROUNDS = 5
SAMPLE_SECONDS = 0.01  # CPU time of a sample, at least


@dataclass(frozen=True)
class Peer:
    """One way to compute a workload."""

    name: str
    model: nn.Module
    call: Callable[[Tensor], Tensor]


class Contest:
    """The peers of one workload and what they are fed."""

    def __init__(self, workload: Workload, makers: dict[str, Maker], *, compiled: bool) -> None:
        self.objective = workload.objective
        self.plain = workload.example_inputs()
        self.inputs = workload.example_inputs().requires_grad_()
        self.targets = workload.example_targets()
        ours = workload.create_model().eval()
        models = {name: make(ours).eval() for name, make in makers.items()}
        models["eager"] = ours
        self.peers = [Peer(name, model, model) for name, model in models.items()]
        if compiled:
            options = workload.cpu_compile_options
            function = torch.compile(ours, fullgraph=True, options={**options})
            self.peers.append(Peer("compiled", ours, function))
        drops_out = getattr(ours, "dropout", 0) > 0
        self.passes = PASSES if drops_out else PASSES[:-1]

    def run(self, peer: Peer, which: str) -> None:
        """Do one pass."""
        if which == "forward":
            with torch.inference_mode():
                peer.call(self.plain)
            return
        output = peer.call(self.inputs)
        if which != "recorded":
            objective = self.objective(output, self.targets)
            torch.autograd.grad(objective, [self.inputs, *peer.model.parameters()])

    def times(self, which: str, budget: float) -> dict[str, list[float]]:
        """Time every peer once a round, for ``budget`` seconds on the wall; return seconds."""
        timers, calls = {}, {}
        for peer in self.peers:
            peer.model.train(which == "training")
            self.run(peer, which)  # the first call compiles, allocates, picks kernels
            timer = timeit.Timer(partial(self.run, peer, which), timer=clock_for("cpu"))
            timers[peer.name] = timer
            calls[peer.name] = max(1, round(SAMPLE_SECONDS / (timer.timeit(2) / 2)))
        times: dict[str, list[float]] = {name: [] for name in timers}
        order = list(timers)
        end = time.monotonic() + budget
        while len(times["eager"]) < FEWEST_ROUNDS or time.monotonic() < end:
            for name in order:
                times[name].append(timers[name].timeit(calls[name]) / calls[name])
            order.append(order.pop(0))  # so that no peer always follows the same one
        return times


def ratio(slow: list[float], fast: list[float]) -> str:
    """``2.10x [2.05, 2.14]``: the median of the rounds' ratios and their quartiles."""
    ratios = [a / b for a, b in zip(slow, fast, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return f"{middle:.2f}x [{low:.2f}, {high:.2f}]"


def rows(name: str, compiled: bool, budget: float) -> list[list[str]]:
    """Return the table's lines of one workload, a pass each."""
    torch._dynamo.reset()
    contest = Contest(get_workload(name), PEERS[name], compiled=compiled)
    lines = []
    for which in contest.passes:
        times = contest.times(which, budget / len(contest.passes))
        line = [name, which, f"{statistics.median(times['eager']) * 1e3:.2f} ms"]
        line.append(ratio(times["naive"], times["eager"]))
        line.append(ratio(times["torch.nn"], times["eager"]) if "torch.nn" in times else "")
        if compiled:
            line.append(ratio(times["naive"], times["compiled"]))
            line.append(ratio(times["eager"], times["compiled"]))
        lines.append([*line, str(len(times["eager"]))])
    return lines


def print_conditions(seconds: float) -> None:
    """Prepare this process for timing, and print under which conditions it times.

    Raises:
        TorchspeedError: There is no time to measure in.
    """
    if not 0 < seconds < float("inf"):
        raise TorchspeedError(f"--seconds is {seconds}; it must be more than 0")
    torch.set_num_threads(1)
    keep_memory()
    torch.manual_seed(0)
    now = datetime.datetime.now(tz=datetime.UTC)
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    print(f"{now:%Y-%m-%d %H:%M} UTC, torch {torch.__version__}, one thread;", end=" ")
    print(f"load {load:.1f} a core; median ratio of the rounds [quartiles]\n")


def compare(names: list[str], compiled: bool, seconds: float) -> None:
    """Print a Markdown table, line by line as it is measured.

    Raises:
        TorchspeedError: a name without peers, or no time to measure in.
    """
    for name in names:
        if name not in PEERS:
            raise TorchspeedError(f"no peers for model {name!r}; there are {', '.join(PEERS)}")
    print_conditions(seconds)
    head = ["model", "pass", "eager", "naive / eager", "torch.nn / eager"]
    head += ["naive / compiled", "eager / compiled"] if compiled else []
    head.append("rounds")
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for name in names:
        for line in rows(name, compiled, seconds):
            print("| " + " | ".join(line) + " |", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Compare; print an error that a person can mend as one line."""
    parser = argparse.ArgumentParser(
        prog="make compare-peers", description="Time our models against their peers."
    )
    parser.add_argument("models", nargs="*", help=f"of {', '.join(PEERS)}; all by default")
    parser.add_argument(
        "--compiled", action="store_true", help="torch.compile too: minutes a model to compile"
    )
    parser.add_argument(
        "--seconds", type=float, default=12.0, help="time to spend on a model (%(default)s)"
    )
    options = parser.parse_args(arguments)
    models = options.models or list(PEERS)
    return exit_status(lambda: compare(models, options.compiled, options.seconds))


if __name__ == "__main__":
    sys.exit(main())
