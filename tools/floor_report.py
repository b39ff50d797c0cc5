"""How far the models are from their floors: ``python -m tools.floor_report``.

For each workload and pass it prints a line of Markdown: the time, the floor
(`torchspeed.measure.floor`), their ratio with the least and the greatest of the rounds, and the
operators that are dispatched. With ``--operators`` a table for each pass follows: what its
operators take, and the floor of each; of a compiled pass, what the compiler's loops and the
operators that it calls take.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tools.exit_status import exit_status
from torchspeed.errors import TorchspeedError
from torchspeed.measure.allocator import keep_memory
from torchspeed.measure.clocks import clock_for
from torchspeed.measure.compilation import cannot_compile
from torchspeed.measure.costs import Costs
from torchspeed.measure.floor import (
    FLOOR_MODES,
    PassWork,
    floor_of,
    meter_for,
    operation_floor,
    pass_works,
)
from torchspeed.measure.passes import Passes
from torchspeed.measure.peak import Peak
from torchspeed.measure.work import CountablePasses, is_view
from torchspeed.workloads import list_workloads

MODELS = list_workloads("time_series") + list_workloads("small_cnn")
PASSES = ("forward", "backward")
RUNS = 7
"""Times that each operator is timed; the least counts, because interference only adds time."""
SHOWN = 6
"""Operators of a pass that are listed, those with most seconds beyond their floors."""


@dataclass
class Share:
    """What an operator takes of a pass, all its calls together."""

    calls: int = 0
    seconds: float = 0.0
    floor_seconds: float = 0.0


class _OperatorClock(TorchDispatchMode):
    """Takes the CPU time of each operator that is no view, with the operators that it calls.

    torch.profiler takes wall time, which on a busy machine says little of a single operator.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seconds: list[float] = []
        self._clock = clock_for("cpu")

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        begun = self._clock()
        out = func(*args, **(kwargs or {}))
        if not is_view(func):
            self.seconds.append(self._clock() - begun)
        return out


def shares(run: Callable[[], object], work: PassWork, costs: Costs) -> dict[str, Share]:
    """Return what the operators of a pass take, by their names.

    Args:
        run: does the pass, outside ``inference_mode``.
        work: its operators, in the order in which it calls them.
        costs: of what they consist of.
    """
    runs = []
    for _ in range(RUNS):
        clock = _OperatorClock()
        with clock:
            run()
        runs.append(clock.seconds)
    by_operator: dict[str, Share] = {}
    for operation, *seconds in zip(work.operations, *runs, strict=True):
        share = by_operator.setdefault(operation.name, Share())
        share.calls += 1
        share.seconds += min(seconds)
        share.floor_seconds += operation_floor(operation, costs)
    return by_operator


def kernel_shares(run: Callable[[], object]) -> dict[str, Share]:
    """Return what the loops of a compiled pass and the operators that it calls take, by name.

    Seconds are wall time, the least of the runs; a loop is named after what it computes.

    Args:
        run: does the pass, compiled while ``cpp.enable_kernel_profile`` was set.
    """
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # it writes to standard error otherwise
    by_kernel: dict[str, Share] = {}
    for _ in range(RUNS):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            run()
        for event in profile.key_averages():
            if event.key.startswith(("aten::", "graph_")):
                name = re.sub(r"^graph_\d+_cpp_fused_", "loop ", event.key)
                seconds = event.self_cpu_time_total * 1e-6
                share = by_kernel.setdefault(name, Share(event.count, seconds))
                share.seconds = min(share.seconds, seconds)
    return by_kernel


def kernel_table(by_kernel: dict[str, Share], pass_seconds: float) -> Iterator[str]:
    """Yield lines of Markdown, the loop or operator that takes longest first.

    Args:
        by_kernel: from `kernel_shares`.
        pass_seconds: of the pass when it is not profiled.
    """
    between = pass_seconds - sum(share.seconds for share in by_kernel.values())
    rows = {**by_kernel, "guards, autograd, Python": Share(seconds=max(between, 0.0))}
    yield "| loop or operator | calls | time, ms | of the pass |"
    yield "|---|---|---|---|"
    ordered = sorted(rows.items(), key=lambda row: -row[1].seconds)
    for name, share in ordered[:SHOWN]:
        part = f"{share.seconds / pass_seconds:.0%}".replace("%", " %")
        row = f"| {name.removeprefix('aten::')} | {share.calls or ''} |"
        yield f"{row} {share.seconds * 1e3:.3f} | {part} |"


def operator_table(by_operator: dict[str, Share], pass_seconds: float) -> Iterator[str]:
    """Yield lines of Markdown, the operator with most seconds beyond its floor first.

    Args:
        by_operator: from `shares`.
        pass_seconds: of the pass when its operators are not timed.
    """
    between = pass_seconds - sum(share.seconds for share in by_operator.values())
    rows = {**by_operator, "views, autograd, Python": Share(seconds=max(between, 0.0))}
    yield "| operator | calls | time, ms | of the pass | floor, ms |"
    yield "|---|---|---|---|---|"
    ordered = sorted(rows.items(), key=lambda row: row[1].floor_seconds - row[1].seconds)
    for name, share in ordered[:SHOWN]:
        part = f"{share.seconds / pass_seconds:.0%}".replace("%", " %")
        times = f"{share.seconds * 1e3:.3f} | {part} | {share.floor_seconds * 1e3:.3f}"
        yield f"| {name.removeprefix('aten::')} | {share.calls or ''} | {times} |"


def report(models: list[str], mode: str, seconds: float, *, operators: bool) -> None:
    """Print the table, line by line as it is measured, then the operators.

    Raises:
        TorchspeedError: A model that is not among those of the table, no time, or no compiler.
    """
    for model in models:
        if model not in MODELS:
            raise TorchspeedError(f"no floor for model {model!r}; there are {', '.join(MODELS)}")
    if not 0 <= seconds < float("inf"):
        raise TorchspeedError(f"--seconds is {seconds}; it must be 0 or more")
    unable = cannot_compile("cpu") if mode == "compiled" else None
    if unable:
        raise TorchspeedError(unable)
    torch.set_num_threads(1)
    keep_memory()
    peak = Peak("cpu")
    now = datetime.datetime.now(tz=datetime.UTC)
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    print(f"{now:%Y-%m-%d %H:%M} UTC, torch {torch.__version__}, one thread, {mode};", end=" ")
    print(f"load {load:.1f} a core; median ratio of the rounds [least, greatest]\n")
    print("| model | pass | dispatches | time, ms | floor, ms | time / floor |")
    print("|---|---|---|---|---|---|")
    pass_seconds = {}
    for model in models:
        floors = floor_of(model, peak, mode, seconds=seconds)
        for name, work in zip(PASSES, pass_works(model), strict=True):
            floor = getattr(floors, name)
            pass_seconds[model, name] = floor.pass_seconds
            spread = f"[{floor.least_times_floor:.2f}, {floor.most_times_floor:.2f}]"
            times = f"{floor.pass_seconds * 1e3:.3f} | {floor.floor_seconds * 1e3:.3f}"
            ratio = f"{floor.times_floor:.2f} {spread}"
            count = len(work.operations)
            print(f"| `{model}` | {name} | {count} | {times} | {ratio} |", flush=True)
    for model in models if operators else ():
        for name, lines in _tables_of(model, mode, peak, pass_seconds):
            print(f"\n`{model}` {name}:\n")
            print(*lines, sep="\n", flush=True)


def _tables_of(
    model: str, mode: str, peak: Peak, pass_seconds: dict[tuple[str, str], float]
) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the name of each pass of a model, and its table of operators."""
    if mode == "compiled":
        from torch._inductor import config  # noqa: PLC0415 - a second, only where it is wanted

        torch.compiler.reset()
        with config.patch("cpp.enable_kernel_profile", True):
            compiled = Passes(model, "cpu", compiled=True)
            for name in PASSES:
                run = getattr(compiled, name)
                run()  # compiles
                yield name, kernel_table(kernel_shares(run), pass_seconds[model, name])
        return
    passes, works = CountablePasses(model), pass_works(model)
    costs = meter_for(works, peak).measure()
    for name, work in zip(PASSES, works, strict=True):
        by_operator = shares(getattr(passes, name), work, costs)
        yield name, operator_table(by_operator, pass_seconds[model, name])


def main(arguments: list[str] | None = None) -> int:
    """Report; print an error that a person can mend as one line."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.floor_report", description="Time our models against their floors."
    )
    parser.add_argument("models", nargs="*", help=f"of {', '.join(MODELS)}; all by default")
    parser.add_argument("--mode", choices=FLOOR_MODES, default="eager", help="(%(default)s)")
    parser.add_argument(
        "--seconds", type=float, default=6.0, help="time to spend on a model (%(default)s)"
    )
    parser.add_argument(
        "--operators", action="store_true", help="list the operators furthest from their floors"
    )
    options = parser.parse_args(arguments)
    models = options.models or MODELS
    return exit_status(
        lambda: report(models, options.mode, options.seconds, operators=options.operators)
    )


if __name__ == "__main__":
    sys.exit(main())
