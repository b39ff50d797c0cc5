"""``python -m tools.operator_coverage [MODEL...]``: checks that cases cover training's operators.

torch's profiler attributes the CPU time of a training step (of the plain model, with SGD) to
operators, each without the operators that it calls. For each model of which a suite times the
gradient, or for those named, this prints the share of the operators' CPU time in those that a case
of suite ``operators`` runs, and the largest other operators. The exit status is 1 where a share is
below 95 %.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks._cases import GRAPH_NETWORKS, PLAIN, TORCHVISION, TRANSFORMERS
from benchmarks.operators import SIZES
from torchspeed.measure.operators import OPERATORS, operator_passes
from torchspeed.measure.processes import keep_memory
from torchspeed.measure.work import CountablePasses

COVERED = 0.95
TRAINED = [*PLAIN, *TORCHVISION, *TRANSFORMERS, *GRAPH_NETWORKS]
"""Models whose training is looked at; the detectors only infer."""


def operator_seconds(run: Callable[[], object]) -> Counter[str]:
    """Return the CPU time of each operator in ``run``, without the operators that it calls.

    ``relu`` and ``relu_``, which works in place, are one operator: they share a kernel.
    """
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        run()
    seconds: Counter[str] = Counter()
    for event in profiler.key_averages():
        if event.key.startswith("aten::"):
            seconds[event.key.removeprefix("aten::").rstrip("_")] += event.self_cpu_time_total
    return seconds


def training_step(workload: str) -> Callable[[], None]:
    """Return a training step, by SGD, of the plain model on a batch of a workload."""
    passes = CountablePasses(workload, implementation="plain")
    optimiser = torch.optim.SGD(passes.parameters, lr=1e-3, momentum=0.9)

    def step() -> None:
        gradients = passes.backward()  # the last one is the input's, but for tokens
        for parameter, gradient in zip(passes.parameters, gradients, strict=False):
            parameter.grad = gradient
        optimiser.step()

    return step


def operators_with_a_case() -> set[str]:
    """Return the operators that the cases of suite ``operators`` run."""
    measured: set[str] = set()
    for name in OPERATORS:
        both = operator_passes(name, "cpu", "fp32", **SIZES["small"][name])
        measured |= set(operator_seconds(both.forward) | operator_seconds(both.backward))
    return measured


def print_coverage(models: Sequence[str]) -> None:
    """Print a row per model, and exit with status 1 if one is not covered."""
    keep_memory()
    torch.set_num_threads(1)
    measured, lacking = operators_with_a_case(), []
    print("| model | covered | largest operators without a case |\n|---|---|---|", flush=True)
    for model in models:
        step = training_step(model)
        step()  # makes the state of the optimiser
        seconds = operator_seconds(step)
        others = Counter({name: s for name, s in seconds.items() if name not in measured})
        covered = 1 - others.total() / seconds.total()
        named = (f"`{name}` {s / seconds.total():.1%}" for name, s in others.most_common(3))
        print(f"| `{model}` | {covered:.1%} | {', '.join(named)} |", flush=True)
        if covered < COVERED:
            lacking.append(model)
    if lacking:
        sys.exit(
            f"cases cover less than {COVERED:.0%} of the training of {', '.join(lacking)}; add "
            "cases to src/torchspeed/measure/operators.py"
        )


if __name__ == "__main__":
    print_coverage(sys.argv[1:] or TRAINED)
