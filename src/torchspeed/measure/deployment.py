"""A plain model as it is deployed: exported for any batch, and compiled ahead of time."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import torch

from torchspeed.workloads import get_workload

BATCHES = (8, 9, 16, 3)
"""Batches with which a compiled model is called, one after the other."""


@dataclass(frozen=True)
class Deployment:
    """The cost of deploying a model; seconds are CPU time of this process."""

    export_seconds: float
    graphs: int
    """Graphs that ``torch.compile`` traces for `BATCHES`; 2 if only the second is traced anew."""


def deployment_of(workload: str, device: str) -> Deployment:
    """Export a model, and call it compiled with several batches."""
    begun = time.process_time()
    export(workload, device)
    export_seconds = time.process_time() - begun

    from torch._dynamo.testing import CompileCounter  # noqa: PLC0415 - a second, not export's

    torch.compiler.reset()
    recipe = get_workload(workload)
    model = recipe.create_model(device=device, implementation="plain").eval()
    counter = CompileCounter()
    compiled = torch.compile(model, backend=counter)
    with torch.no_grad():
        for batch in BATCHES:
            compiled(recipe.example_inputs(batch, device))
    return Deployment(export_seconds, counter.frame_count)


def export(workload: str, device: str) -> Any:
    """Return a plain model as ``torch.export`` traces it for batches of any size."""
    recipe = get_workload(workload)
    model = recipe.create_model(device=device, implementation="plain").eval()
    inputs = recipe.example_inputs(device=device)
    with torch.no_grad():
        batch = torch.export.Dim("batch")
        return torch.export.export(model, (inputs,), dynamic_shapes=({0: batch},))


@lru_cache(maxsize=1)
def ahead_of_time(workload: str, device: str, folder: Path) -> Callable[[], Any]:
    """Return the forward pass of the workload's batch, compiled by AOTInductor once a folder."""
    package = folder / f"{workload}-{device}.pt2"
    if not package.exists():
        torch._inductor.aoti_compile_and_package(
            export(workload, device), package_path=str(package)
        )
    loaded = torch._inductor.aoti_load_package(str(package))
    return partial(loaded, get_workload(workload).example_inputs(device=device))
