"""Measures the cost of compiling a workload: seconds, graph breaks, recompilations."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from torchspeed.measure.compilation import keep_code_in
from torchspeed.measure.passes import Passes
from torchspeed.models import Implementation

REPEATS = 3
"""How often both passes run again, in turn, to see whether anything is compiled anew."""


@dataclass(frozen=True)
class Cost:
    """The cost of compiling a workload."""

    forward_seconds: float
    """CPU time of the first inference and of the compilers that it started."""
    backward_seconds: float
    """The same for the first forward pass in training mode with its gradient."""
    graph_breaks: int
    """Places where dynamo gave control back to Python, both passes together."""
    recompilations: int
    """Number of graphs that later calls with the same shapes needed."""


def compile_cost(
    workload: str, device: str, folder: Path, implementation: Implementation = "tuned"
) -> Cost:
    """Compile both passes of a workload for the first time, and return the cost.

    The fixed cost of a first use of ``torch.compile`` (importing inductor, asking the C++ compiler
    for its features) is spent before, on a function of two lines, and is not counted. The output
    of the C++ compiler for it is kept in ``folder`` for the next workload.

    The compiled code stays in `code_folder`.
    """
    code = code_folder(workload, device, folder, implementation)
    if code.exists():  # a timed process came first: its code would be used
        code = Path(tempfile.mkdtemp(dir=folder))
    _use_once(device, folder / f"{device}-first-use", code)
    return count_cost(Passes(workload, device, mode="compiled", implementation=implementation))


def code_folder(
    workload: str, device: str, folder: Path, implementation: Implementation = "tuned"
) -> Path:
    """Return the folder of a workload's code: its own, since others may share kernels with it."""
    return folder / f"{implementation}-{workload}-{device}-code"


def count_cost(passes: Passes) -> Cost:
    """Run passes for the first time, and count what dynamo and the compilers do."""
    _, breaks_before = _dynamo_counts()
    forward_seconds = _cpu_seconds(passes.forward)
    backward_seconds = _cpu_seconds(passes.backward)
    graphs, breaks = _dynamo_counts()
    for _ in range(REPEATS):
        passes.forward()
        passes.backward()
    return Cost(
        forward_seconds=forward_seconds,
        backward_seconds=backward_seconds,
        graph_breaks=breaks - breaks_before,
        recompilations=_dynamo_counts()[0] - graphs,
    )


def _dynamo_counts() -> tuple[int, int]:
    from torch._dynamo.utils import counters  # noqa: PLC0415 - seconds, once

    return counters["stats"]["unique_graphs"], sum(counters["graph_break"].values())


def _cpu_seconds(run: Callable[[], object]) -> float:
    """Return CPU seconds of ``run``, in this process and in those that it started and awaited."""
    before, _, after = os.times(), run(), os.times()
    return sum(after[:4]) - sum(before[:4])


def _use_once(device: str, kept: Path, code: Path) -> None:
    """Use ``torch.compile`` for the first time in this process, with compiled code in ``code``.

    The C++ compiler is asked once, and its answers stay in ``kept``. The graphs that inductor
    stores are left out: with them this process would not import the code generator here, and the
    time of that import would be counted as the workload's.
    """
    if kept.exists():
        shutil.copytree(kept, code, dirs_exist_ok=True)
    keep_code_in(code)
    x = torch.ones(64, device=device, requires_grad=True)
    function = torch.compile(lambda x: (x.sin() * 2).sum(), dynamic=False)
    torch.autograd.grad(function(x), x)
    if not kept.exists():
        copy = Path(tempfile.mkdtemp(dir=kept.parent), kept.name)
        graphs = shutil.ignore_patterns("aotautograd", "fxgraph")
        shutil.copytree(code, copy, ignore=graphs)
        with contextlib.suppress(OSError):  # another process was first
            copy.rename(kept)
