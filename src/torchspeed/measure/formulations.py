"""Measures which implementation of a model is the fastest, by batch.

``python -m torchspeed.measure.formulations [DEVICE]`` prints a line per batch and writes what it
measured on this processor into ``models/fastest.json``; those of other processors stay. All
implementations of a model are interleaved, on one thread.
"""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import cpuinfo
import numpy as np
import torch

from torchspeed.files import write_whole
from torchspeed.measure.clocks import clock_for, seconds_per_call
from torchspeed.measure.passes import Passes
from torchspeed.measure.processes import keep_memory
from torchspeed.models import Implementation, list_implementations
from torchspeed.models.fastest import FILE, Batches, Choices, Pass, measured
from torchspeed.workloads import get_workload, list_workloads

BATCHES = (1, 8, 32)
"""Batches that are measured beside the batch of a model's source."""
ROUNDS = 5
"""Rounds, each of all implementations in turn and then in the opposite order."""
AT_LEAST_S = 0.03
"""Seconds of calls in a row that are timed together."""
NOISE = 0.99
"""An implementation counts as fast as the fastest one if its speed is this share of it or more."""
PASSES: tuple[Pass, ...] = ("forward", "backward")
Speeds = dict[Implementation, float]
"""Median over the rounds of the plain one's time over an implementation's."""


def measure(
    workload: str, device: str, pass_name: Pass, batch: int, rounds: int = ROUNDS
) -> dict[Implementation, np.ndarray]:
    """Return the seconds of a call of each implementation in each round, interleaved."""
    runs: dict[Implementation, Callable[[], object]] = {}
    for implementation in list_implementations(get_workload(workload).model):
        built = Passes(workload, device, batch, implementation=implementation)
        runs[implementation] = getattr(built, pass_name)
    clock = clock_for(device)
    seconds: dict[Implementation, list[float]] = {implementation: [] for implementation in runs}
    for _ in range(rounds):
        first = {name: seconds_per_call(run, clock, AT_LEAST_S) for name, run in runs.items()}
        for name in reversed(runs):
            second = seconds_per_call(runs[name], clock, AT_LEAST_S)
            seconds[name].append((first[name] + second) / 2)
    return {implementation: np.array(values) for implementation, values in seconds.items()}


def choices(speeds_of: Mapping[int, Speeds]) -> Batches:
    """Return the implementation that is the fastest, by the batch from which it is.

    From the largest batch down, one is kept until another is faster by more than `NOISE`.
    """
    chosen: list[tuple[int, Implementation]] = []
    for batch in sorted(speeds_of, reverse=True):
        speeds = speeds_of[batch]
        fastest = max(speeds, key=speeds.__getitem__)
        if chosen and speeds[chosen[-1][1]] >= NOISE * speeds[fastest]:
            chosen[-1] = batch, chosen[-1][1]
        else:
            chosen.append((batch, fastest))
    return {str(batch): implementation for batch, implementation in reversed(chosen)}


def processor(device: str) -> str:
    """Return the name of a GPU, or of the CPU with its family and model: brands are ambiguous."""
    if device.startswith("cuda"):
        return torch.cuda.get_device_name(device)
    cpu = cpuinfo.get_cpu_info()
    numbers = (f"{name} {cpu.get(name, 'unknown')}" for name in ("family", "model"))
    return ", ".join([str(cpu.get("brand_raw", "unknown")), *numbers])


def measure_model(name: str, device: str) -> Choices:
    """Measure both passes of a workload at several batches, print each ratio on standard error."""
    fastest: dict[Pass, Batches] = {}
    for pass_name in PASSES:
        found: dict[int, Speeds] = {}
        for batch in sorted({*BATCHES, get_workload(name).batch}):
            seconds = measure(name, device, pass_name, batch)
            speeds = found[batch] = {}
            for implementation, own in seconds.items():
                low, median, high = np.percentile(seconds["plain"] / own, (25, 50, 75)).tolist()
                speeds[implementation] = median
                if implementation != "plain":
                    print(f"{name} {pass_name}, batch {batch}: plain / {implementation} "
                          f"{median:.2f} ({low:.2f} to {high:.2f})",
                          file=sys.stderr, flush=True)  # fmt: skip
        fastest[pass_name] = choices(found)
    return {get_workload(name).model: fastest}


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
