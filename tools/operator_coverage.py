"""``python -m tools.operator_coverage``: which operators take the time, and what measures them.

torch's profiler ranks the operators of a training step of torchvision's models and of the plain
forecasting models by their own CPU time, as a share of the step, the mean over the models. The 30
first are printed with what measures them: the plain models, or cases of suite ``operators``. The
exit status is 1 where nothing measures one of them.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.operators import SIZES
from benchmarks.plain import PlainModels
from torchspeed.measure.operators import OPERATORS, operator_passes
from torchspeed.measure.processes import keep_memory
from torchspeed.measure.work import CountablePasses
from torchspeed.workloads import list_workloads

DOMINATING = 30


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
        *gradients, _ = passes.backward()
        for parameter, gradient in zip(passes.parameters, gradients, strict=True):
            parameter.grad = gradient
        optimiser.step()

    return step


def mean_shares(workloads: Sequence[str]) -> dict[str, float]:
    """Return each operator's share of a training step, the mean over the workloads."""
    shares: dict[str, float] = defaultdict(float)
    for workload in workloads:
        step = training_step(workload)
        step()  # makes the state of the optimiser
        seconds = operator_seconds(step)
        for name, taken in seconds.items():
            shares[name] += taken / seconds.total() / len(workloads)
    return shares


def measured_by() -> dict[str, list[str]]:
    """Return each operator that is measured, with the plain models and the cases that run it."""
    plain = {name: CountablePasses(name, implementation="plain") for name in PlainModels.params[0]}
    cases = {
        f"operators: {name}": operator_passes(name, "cpu", "fp32", **SIZES["small"][name])
        for name in OPERATORS
    }
    measured: dict[str, list[str]] = {}
    for name, both in (plain | cases).items():
        for operator in operator_seconds(both.forward) | operator_seconds(both.backward):
            measured.setdefault(operator, []).append(name)
    return measured


def print_table() -> None:
    """Print the table, and end with status 1 if an operator of it is not measured."""
    keep_memory()
    torch.set_num_threads(1)
    shares = mean_shares(list_workloads("torchvision") + list_workloads("time_series"))
    measured = measured_by()
    dominating = sorted(shares, key=lambda name: -shares[name])[:DOMINATING]
    print("| operator | share of a step | measured by |\n|---|---|---|")
    for name in dominating:
        print(f"| `{name}` | {shares[name]:.1%} | {', '.join(measured.get(name, []))} |")
    missing = [name for name in dominating if name not in measured]
    if missing:
        sys.exit(f"nothing measures {', '.join(missing)}; add a case to measure/operators.py")


if __name__ == "__main__":
    print_table()
