"""Which operators models spend their time in, and which of them are measured.

``python -m tools.operator_coverage`` ranks the operators of a training step of torchvision's
models and of the plain forecasting models by their share of its CPU time, the mean over the
models. It prints the 30 first with what measures them: the plain models, or cases of suite
``operators``. It ends with status 1 where one of them is measured by neither.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.operators import SIZES
from benchmarks.plain import PlainModels
from tools.exit_status import exit_status
from torchspeed.errors import TorchspeedError
from torchspeed.measure.allocator import keep_memory
from torchspeed.measure.clocks import clock_for
from torchspeed.measure.operators import OPERATORS, operator_passes
from torchspeed.measure.work import CountablePasses, is_view
from torchspeed.workloads import list_workloads

DOMINATING = 30
RATE = 1e-3
"""Of SGD: the optimiser's operators belong to a step."""


class OperatorSeconds(TorchDispatchMode):
    """Takes the CPU time of each operator below autograd that is no view, by its name.

    An operator and the one that works in place, ``relu`` and ``relu_``, are one: they share a
    kernel.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seconds: dict[str, float] = defaultdict(float)
        self._clock = clock_for("cpu")

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        begun = self._clock()
        out = func(*args, **(kwargs or {}))
        if not is_view(func):
            name = func._schema.name.removeprefix("aten::").rstrip("_")
            self.seconds[name] += self._clock() - begun
        return out


def operators_of(run: Callable[[], object]) -> dict[str, float]:
    """Return the seconds that ``run`` spends in each operator."""
    clock = OperatorSeconds()
    with clock:
        run()
    return clock.seconds


def training_step(workload: str) -> Callable[[], object]:
    """Return a step of the plain model on a batch of a workload, which trains it by SGD."""
    passes = CountablePasses(workload, implementation="plain")
    optimiser = torch.optim.SGD(passes.parameters, lr=RATE, momentum=0.9)

    def step() -> None:
        _, *gradients = passes.backward()
        for parameter, gradient in zip(passes.parameters, gradients, strict=True):
            parameter.grad = gradient
        optimiser.step()

    return step


def shares(workloads: list[str]) -> dict[str, float]:
    """Return the operators' shares of the seconds of a step, the mean over the workloads."""
    mean: dict[str, float] = defaultdict(float)
    for workload in workloads:
        step = training_step(workload)
        step()  # the first makes the state of the optimiser
        seconds = operators_of(step)
        for name, taken in seconds.items():
            mean[name] += taken / sum(seconds.values()) / len(workloads)
    return mean


def of_plain_models() -> dict[str, list[str]]:
    """Return each operator that the passes of suite ``plain`` run, with the models."""
    found: dict[str, list[str]] = {}
    for workload in PlainModels.params[0]:
        passes = CountablePasses(workload, 8, implementation="plain")
        for name in {**operators_of(passes.forward), **operators_of(passes.backward)}:
            found.setdefault(name, []).append(workload)
    return found


def of_operator_suite() -> dict[str, list[str]]:
    """Return each operator that the cases of suite ``operators`` run, with the cases."""
    found: dict[str, list[str]] = {}
    for case in OPERATORS:
        passes = operator_passes(case, "cpu", "fp32", **SIZES["small"][case])
        for run in (passes.forward, passes.backward):
            for name in operators_of(run):
                cases = found.setdefault(name, [])
                cases += [case] * (case not in cases)
    return found


def report() -> Iterator[str]:
    """Yield the lines of the table.

    Raises:
        TorchspeedError: after it, if an operator of it is not measured.
    """
    ranked = shares(list_workloads("torchvision") + list_workloads("time_series"))
    models, cases = of_plain_models(), of_operator_suite()
    yield "| operator | share of a step, % | plain models | suite `operators` |"
    yield "|---|---|---|---|"
    missing = []
    for name in sorted(ranked, key=lambda name: -ranked[name])[:DOMINATING]:
        measured = [_listed(found.get(name, [])) for found in (models, cases)]
        missing += [name] * (not any(measured))
        yield f"| `{name}` | {100 * ranked[name]:.1f} | {measured[0]} | {measured[1]} |"
    if missing:
        raise TorchspeedError(
            f"nothing measures {', '.join(missing)}; add a case to measure/operators.py"
        )


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _print_report() -> None:
    keep_memory()
    torch.set_num_threads(1)
    for line in report():
        print(line, flush=True)


if __name__ == "__main__":
    sys.exit(exit_status(_print_report))
