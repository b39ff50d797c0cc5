"""How far the models are from their floors: ``python -m tools.floor_report``.

For each workload and pass it prints a line of Markdown: the time, the floor
(`torchspeed.measure.floor`), their ratio with the least and the greatest of the rounds, and the
operators that are dispatched. With ``--operators`` a table for each pass follows that says where
torch's profiler saw the time, operator by operator, and the floor of each.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch.profiler import ProfilerActivity, profile

from torchspeed.errors import TorchspeedError
from torchspeed.measure.allocator import keep_memory
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
from torchspeed.workloads import list_workloads

MODELS = list_workloads("time_series") + list_workloads("small_cnn")
PASSES = ("forward", "backward")
PROFILES = 7
"""Times that a pass is profiled; the least time of an operator counts, for interference adds."""
MOST_PROFILED_CALLS = 10
SHOWN = 6
"""Operators of a pass that are listed, those with most seconds beyond their floors."""


@dataclass
class Share:
    """What an operator takes of a pass, all its calls together."""

    calls: float = 0.0
    profiled_seconds: float = 0.0
    floor_seconds: float = 0.0


def shares(run: Callable[[], object], work: PassWork, costs: Costs) -> dict[str, Share]:
    """Profile a pass and return what its operators take, and what lies between them.

    An operator's time includes the operators that it calls itself. The profiler adds about a
    microsecond to each.
    """
    found: dict[str, Share] = {}
    for operation in work.operations:
        share = found.setdefault(operation.name, Share())
        share.floor_seconds += operation_floor(operation, costs)
    recorded = frozenset(found)
    totals, profiles = [], []
    for _ in range(PROFILES):
        seconds, of_operators = profile_once(run, recorded)
        totals.append(seconds)
        profiles.append(of_operators)
    for name in {name for of_operators in profiles for name in of_operators}:
        share = found.setdefault(name, Share())
        share.calls = profiles[0][name][0]
        share.profiled_seconds = min(of_operators[name][1] for of_operators in profiles)
    inside = sum(share.profiled_seconds for share in found.values())
    found["views, autograd, Python"] = Share(profiled_seconds=min(totals) - inside)
    return found


def profile_once(
    run: Callable[[], object], recorded: frozenset[str]
) -> tuple[float, dict[str, tuple[float, float]]]:
    """Return the seconds of a call, and the calls and seconds of each recorded operator in it.

    A kernel that the compiler wrote counts under the names of what it fuses.
    """
    run()
    calls = 0
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        begun = time.perf_counter()
        while calls < MOST_PROFILED_CALLS and time.perf_counter() - begun < 0.1:
            run()
            calls += 1
        took = time.perf_counter() - begun
    of_operators: dict[str, tuple[float, float]] = {}
    for event in profiler.events() or []:
        name, caller = event.name if event.name in recorded else None, event.cpu_parent
        while caller is not None:
            name, caller = caller.name if caller.name in recorded else name, caller.cpu_parent
        if name is None and "_cpp_fused_" in event.name:
            name = event.name.partition("_cpp_")[2]
        if name is not None:
            count, seconds = of_operators.get(name, (0.0, 0.0))
            count += (event.name == name or "_cpp_fused_" in event.name) / calls
            of_operators[name] = count, seconds + event.self_cpu_time_total / 1e6 / calls
    return took / calls, of_operators


def operator_table(found: dict[str, Share]) -> Iterator[str]:
    """Yield lines of Markdown, the operator with most seconds beyond its floor first."""
    total = sum(share.profiled_seconds for share in found.values())
    yield "| operator | calls | profiled, ms | of the pass | floor, ms |"
    yield "|---|---|---|---|---|"
    ordered = sorted(found.items(), key=lambda e: e[1].floor_seconds - e[1].profiled_seconds)
    for name, share in ordered[:SHOWN]:
        calls = f"{share.calls:.0f}" if share.calls else ""
        part = f"{share.profiled_seconds / total:.0%}".replace("%", " %")
        times = f"{share.profiled_seconds * 1e3:.3f} | {part} | {share.floor_seconds * 1e3:.3f}"
        yield f"| {name.removeprefix('aten::')} | {calls} | {times} |"


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
    for model in models:
        floors = floor_of(model, peak, mode, seconds=seconds)
        for name, work in zip(PASSES, pass_works(model), strict=True):
            floor = getattr(floors, name)
            spread = f"[{floor.least_times_floor:.2f}, {floor.most_times_floor:.2f}]"
            times = f"{floor.pass_seconds * 1e3:.3f} | {floor.floor_seconds * 1e3:.3f}"
            ratio = f"{floor.times_floor:.2f} {spread}"
            count = len(work.operations)
            print(f"| `{model}` | {name} | {count} | {times} | {ratio} |", flush=True)
    for model in models if operators else ():
        works = pass_works(model)
        costs = meter_for(works, peak).measure()
        passes = Passes(model, "cpu", compiled=mode == "compiled")
        for name, work in zip(PASSES, works, strict=True):
            print(f"\n`{model}` {name}, {mode}:\n")
            for line in operator_table(shares(getattr(passes, name), work, costs)):
                print(line, flush=True)


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
        "--operators", action="store_true", help="say which operators stand between"
    )
    options = parser.parse_args(arguments)
    if options.mode == "compiled" and options.operators:
        torch._inductor.config.cpp.enable_kernel_profile = True  # names the compiler's kernels
    try:
        report(
            options.models or MODELS, options.mode, options.seconds, operators=options.operators
        )
    except TorchspeedError as error:
        print(f"torchspeed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
