"""Measures which formulation of a model is the fastest, by batch.

``python -m torchspeed.measure.formulations [DEVICE]`` prints a line per formulation and batch and
writes what it measured on this processor into ``models/fastest.json``; those of other processors
stay. All implementations of a model, eager and, where this machine can compile, compiled, are
interleaved on one thread. With compiling it takes an hour on a busy core.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import cpuinfo
import numpy as np
import torch

from torchspeed.files import write_whole
from torchspeed.measure.clocks import clock_for, interleaved, seconds_per_call
from torchspeed.measure.compilation import cannot_compile
from torchspeed.measure.passes import Passes
from torchspeed.measure.processes import keep_memory
from torchspeed.models import list_implementations
from torchspeed.models.fastest import COMPILED, FILE, Batches, Choices, Pass, measured
from torchspeed.workloads import get_workload, list_workloads

BATCHES = (1, 8, 32)
"""Batches that are measured beside the batch of a model's source."""
ROUNDS = (5, 10)
"""Fewest and most rounds of a model, pass and batch."""
WORTH_COMPILING = 1.05
"""A compiled formulation is chosen if it is at least so many times as fast as the eager ones."""


def measure(workload: str, device: str, pass_name: Pass, batch: int) -> dict[str, list[float]]:
    """Return the ratios of the eager plain formulation's time to that of each, interleaved."""
    torch.compiler.reset()  # it compiles a function for a few shapes only, and then no more
    runs: dict[str, Callable[[], object]] = {}
    modes = {"eager": ""} if cannot_compile(device) else {"eager": "", "compiled": COMPILED}
    for mode, suffix in modes.items():
        for implementation in list_implementations(get_workload(workload).model):
            built = Passes(workload, device, batch, mode, implementation=implementation)
            runs[implementation + suffix] = getattr(built, pass_name)
    plain, clock = runs.pop("plain"), clock_for(device)
    plain()  # warms up
    measured = interleaved(
        runs, lambda: dict.fromkeys(runs, seconds_per_call(plain, clock)), device, ROUNDS
    )
    return {name: [base / own for own, base in pairs] for name, pairs in measured.items()}


def processor(device: str) -> str:
    """Return the name of a GPU, or of the CPU with its family and model: brands are ambiguous."""
    if device.startswith("cuda"):
        return torch.cuda.get_device_name(device)
    cpu = cpuinfo.get_cpu_info()
    numbers = (f"{name} {cpu.get(name, 'unknown')}" for name in ("family", "model"))
    return ", ".join([str(cpu.get("brand_raw", "unknown")), *numbers])


def measure_model(name: str, device: str) -> Choices:
    """Measure both passes of a workload at several batches, print each ratio on standard error."""
    model, fastest = get_workload(name).model, dict[str, Batches]()
    for pass_name in get_args(Pass):
        for batch in sorted({*BATCHES, get_workload(name).batch}):
            speeds = {"plain": 1.0}
            for formulation, ratios in measure(name, device, pass_name, batch).items():
                low, median, high = np.percentile(ratios, (25, 50, 75)).tolist()
                speeds[formulation] = median
                print(f"{name} {pass_name}, batch {batch}: plain / {formulation} "
                      f"{median:.2f} ({low:.2f} to {high:.2f})",
                      file=sys.stderr, flush=True)  # fmt: skip
            best = max(speeds, key=speeds.__getitem__)
            eager = max(list_implementations(model), key=speeds.__getitem__)
            chosen: dict[str, str] = {pass_name: eager}
            if any(formulation.endswith(COMPILED) for formulation in speeds):
                pays = speeds[best] >= WORTH_COMPILING * speeds[eager]
                chosen[pass_name + COMPILED] = best if pays else eager
            for key, formulation in chosen.items():
                batches = fastest.setdefault(key, {})
                if [formulation] != list(batches.values())[-1:]:
                    batches[str(batch)] = formulation
    return {model: fastest}


def main(device: str = "cpu", file: Path = FILE) -> None:
    """Measure every model with several implementations, and write the fastest of each into a file.

    What the file has of other processors stays.
    """
    torch.set_num_threads(1)
    keep_memory()
    for name in [*list_workloads("time_series"), *list_workloads("small_cnn")]:
        if len(list_implementations(get_workload(name).model)) == 1:
            continue
        fastest = measure_model(name, device)
        content = measured(file)
        processors = content.setdefault(device.partition(":")[0], {})
        processors.setdefault(processor(device), {}).update(fastest)
        write_whole(file, f"{json.dumps(content, indent=2)}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "cpu")
